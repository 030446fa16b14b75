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
