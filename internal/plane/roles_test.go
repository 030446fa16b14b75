package plane

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	core "github.com/slipway-capi/slipway/core/config"
	bootstrap "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/config"
	controlplane "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/config"
	docker "github.com/slipway-capi/slipway/providers/infrastructure-docker/config"
)

// A manager may write the CustomResourceDefinitions that it installs, to migrate what is stored of them, and no others.
//
// Conformance: MG-44
func TestRolesLetManagersMigrateTheirOwnKinds(t *testing.T) {
	for name, files := range map[string]fs.FS{"core": core.Files, "bootstrap": bootstrap.Files, "control plane": controlplane.Files, "docker": docker.Files} {
		var own []string
		require.NoError(t, fs.WalkDir(files, "crd/bases", func(file string, d fs.DirEntry, err error) error {
			if group, plural, ok := strings.Cut(strings.TrimSuffix(path.Base(file), ".yaml"), "_"); ok {
				own = append(own, plural+"."+group)
			}
			return err
		}))
		slices.Sort(own)
		raw, err := fs.ReadFile(files, "rbac/role.yaml")
		require.NoError(t, err)
		role := &rbacv1.ClusterRole{}
		require.NoError(t, yaml.Unmarshal(raw, role))
		writes := 0
		for _, rule := range role.Rules {
			if !slices.Contains(rule.Resources, "customresourcedefinitions") || !slices.Contains(rule.Verbs, "patch") {
				continue
			}
			writes++
			slices.Sort(rule.ResourceNames)
			assert.Equal(t, own, rule.ResourceNames, "the %s manager", name)
			assert.ElementsMatch(t, []string{"patch", "update"}, rule.Verbs)
		}
		assert.Equal(t, 1, writes, "the %s manager", name)
	}
}

// Whoever migrates the objects of a kind must be able to list and patch them, also of kinds that no controller reads.
func TestRolesLetManagersMigrateObjects(t *testing.T) {
	for name, files := range map[string]fs.FS{"core": core.Files, "bootstrap": bootstrap.Files, "control plane": controlplane.Files, "docker": docker.Files} {
		raw, err := fs.ReadFile(files, "rbac/role.yaml")
		require.NoError(t, err)
		role := &rbacv1.ClusterRole{}
		require.NoError(t, yaml.Unmarshal(raw, role))
		require.NoError(t, fs.WalkDir(files, "crd/bases", func(file string, _ fs.DirEntry, err error) error {
			group, plural, ok := strings.Cut(strings.TrimSuffix(path.Base(file), ".yaml"), "_")
			for _, verb := range []string{"list", "patch"} {
				assert.True(t, !ok || allows(role, group, plural, verb), "the %s manager must %s %s.%s", name, verb, plural, group)
			}
			return err
		}))
	}
}

func allows(role *rbacv1.ClusterRole, group, resource, verb string) bool {
	return slices.ContainsFunc(role.Rules, func(r rbacv1.PolicyRule) bool {
		return slices.Contains(r.APIGroups, group) && slices.Contains(r.Verbs, verb) &&
			(slices.Contains(r.Resources, resource) || slices.Contains(r.Resources, "*"))
	})
}
