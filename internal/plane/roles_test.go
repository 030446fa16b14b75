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

// Conformance: MG-32
func TestRolesLetManagersElectALeaderAndServeDiagnostics(t *testing.T) {
	for _, c := range Components() {
		role := generated(t, c.Files, "rbac/role.yaml")
		for _, verb := range []string{"get", "create", "update"} {
			assert.True(t, allows(role, "coordination.k8s.io", "leases", verb), "the %s manager must %s leases", c.Name, verb)
		}
		assert.True(t, allows(role, "authentication.k8s.io", "tokenreviews", "create"), "the %s manager must ask who its users are", c.Name)
		assert.True(t, allows(role, "authorization.k8s.io", "subjectaccessreviews", "create"), "the %s manager must ask what its users may do", c.Name)
	}
}

// Conformance: MG-31
func TestTheCoreMayDoAllWithProvidersKinds(t *testing.T) {
	role := generated(t, core.Files, "rbac/role.yaml")
	for _, group := range []string{"infrastructure.cluster.x-k8s.io", "bootstrap.cluster.x-k8s.io", "controlplane.cluster.x-k8s.io"} {
		for _, verb := range []string{"get", "list", "watch", "create", "update", "patch", "delete"} {
			assert.True(t, allows(role, group, "foreignthings", verb), "%s in %s", verb, group)
		}
	}
	for _, verb := range []string{"get", "list", "watch"} {
		assert.True(t, allows(role, "apiextensions.k8s.io", "customresourcedefinitions", verb))
	}
}

// Providers of other groups let a manager at their kinds by a role with a label; Kubernetes adds it to the manager's own.
//
// Conformance: MG-30
func TestRolesCollectTheRightsThatProvidersGive(t *testing.T) {
	for label, files := range map[string]fs.FS{
		"cluster.x-k8s.io/aggregate-to-manager":                      core.Files,
		"kubeadm.controlplane.cluster.x-k8s.io/aggregate-to-manager": controlplane.Files,
	} {
		role := generated(t, files, "rbac/collected_role.yaml")
		require.NotNil(t, role.AggregationRule)
		require.Len(t, role.AggregationRule.ClusterRoleSelectors, 1)
		assert.Equal(t, map[string]string{label: "true"}, role.AggregationRule.ClusterRoleSelectors[0].MatchLabels)
		assert.Nil(t, role.Rules, "rules of its own would be taken away, and given back, at each start")
	}
	all, err := preparedFor(t).collect()
	require.NoError(t, err)
	bound := false
	for _, o := range all.access {
		bound = bound || o.GetKind() == "ClusterRoleBinding" && o.GetName() == "capi-collected-manager-role"
	}
	assert.True(t, bound, "the manager of a plane has the collected rights")
}

func generated(t *testing.T, files fs.FS, name string) *rbacv1.ClusterRole {
	t.Helper()
	raw, err := fs.ReadFile(files, name)
	require.NoError(t, err)
	role := &rbacv1.ClusterRole{}
	require.NoError(t, yaml.UnmarshalStrict(raw, role))
	return role
}
