package coredns

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/image"
)

const corefile = ".:53 {\n    errors\n    health {\n        lameduck 5s\n    }\n    kubernetes cluster.local in-addr.arpa ip6.arpa {\n        pods insecure\n        fallthrough in-addr.arpa ip6.arpa\n    }\n    forward . /etc/resolv.conf\n    cache 30\n    loop\n    reload\n    loadbalance\n}\n"

// old holds an option that CoreDNS does not know any more since 1.7.0.
const old = ".:53 {\n    errors\n    kubernetes cluster.local {\n        upstream\n    }\n    forward . /etc/resolv.conf\n}\n"

func deployment(image, key string) *appsv1.Deployment {
	d := &appsv1.Deployment{}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "sidecar", Image: "x:1"}, {Name: Name, Image: image}}
	if key != "" {
		d.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "other"}, {Name: Volume, VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{Items: []corev1.KeyToPath{{Key: "extra", Path: "extra"}, {Key: key, Path: CorefileKey}}},
		}}}
	}
	return d
}

func TestTarget(t *testing.T) {
	for _, row := range []struct {
		name, current string
		wanted        Wanted
		want          string
	}{
		{"nothing wanted", "registry.k8s.io/coredns/coredns:v1.14.4", Wanted{}, "registry.k8s.io/coredns/coredns:v1.14.4"},
		{"tag", "registry.k8s.io/coredns/coredns:v1.14.4", Wanted{Tag: "v1.14.6"}, "registry.k8s.io/coredns/coredns:v1.14.6"},
		{"into the folder", "registry.k8s.io/coredns:1.7.0", Wanted{Tag: "v1.8.0"}, "registry.k8s.io/coredns/coredns:v1.8.0"},
		{"folder of the old registry", "k8s.gcr.io/coredns:1.6.5", Wanted{Tag: "1.7.1"}, "k8s.gcr.io/coredns:1.7.1"},
		{"official registry named by the user", "mirror/coredns:v1.14.4", Wanted{Repository: "registry.k8s.io"}, "registry.k8s.io/coredns/coredns:v1.14.4"},
		{"a mirror", "registry.k8s.io/coredns/coredns:v1.14.4", Wanted{Repository: "mirror.example.org/k8s", Tag: "v1.14.6"}, "mirror.example.org/k8s/coredns:v1.14.6"},
		{"a mirror stays as it is", "mirror.example.org/coredns/coredns:v1.14.4", Wanted{Tag: "v1.14.6"}, "mirror.example.org/coredns/coredns:v1.14.6"},
		{"suffix", "mirror/coredns:v1.14.4", Wanted{Tag: "v1.14.4_vendor.1"}, "mirror/coredns:v1.14.4_vendor.1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			current, err := image.Parse(row.current)
			require.NoError(t, err)
			got, err := Target(current, row.wanted)
			require.NoError(t, err)
			assert.Equal(t, row.want, got.String())
		})
	}
}

// Conformance: CP-95
func TestDecide(t *testing.T) {
	const repository = "registry.k8s.io/coredns/coredns:"
	data := func(pairs ...string) map[string]string {
		m := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	for _, row := range []struct {
		name    string
		running *appsv1.Deployment
		data    map[string]string
		wanted  Wanted
		want    *Upgrade
		problem string
	}{
		{"as wanted", deployment(repository+"v1.14.6", CorefileKey), data(CorefileKey, corefile), Wanted{Tag: "v1.14.6"}, nil, ""},
		{"nothing wanted", deployment(repository+"v1.14.6", CorefileKey), data(CorefileKey, corefile), Wanted{}, nil, ""},
		{"newer", deployment(repository+"v1.14.4", CorefileKey), data(CorefileKey, corefile), Wanted{Tag: "v1.14.6"},
			&Upgrade{Image: repository + "v1.14.6", Former: corefile, Migrated: corefile, Mounted: true}, ""},
		{"repository only", deployment("a/coredns:v9.9.9", CorefileKey), data(CorefileKey, corefile), Wanted{Repository: "b"},
			&Upgrade{Image: "b/coredns:v9.9.9", Former: corefile, Migrated: corefile, Mounted: true}, ""},
		{"no volume", deployment(repository+"v1.14.4", ""), data(CorefileKey, corefile), Wanted{Tag: "v1.14.6"},
			&Upgrade{Image: repository + "v1.14.6", Former: corefile, Migrated: corefile}, ""},
		{"half done: the backup is shown", deployment(repository+"v1.14.4", BackupKey), data(CorefileKey, "migrated already", BackupKey, corefile), Wanted{Tag: "v1.14.6"},
			&Upgrade{Image: repository + "v1.14.6", Former: corefile, Migrated: corefile, Mounted: true}, ""},
		{"half done: wanted image, backup shown", deployment(repository+"v1.14.6", BackupKey), data(CorefileKey, "x", BackupKey, corefile), Wanted{Tag: "v1.14.6"},
			&Upgrade{Image: repository + "v1.14.6", Former: corefile, Migrated: corefile, Mounted: true}, ""},
		{"downgrade", deployment(repository+"v1.14.6", CorefileKey), data(CorefileKey, corefile), Wanted{Tag: "v1.14.4"}, nil, "cannot be downgraded"},
		{"unknown version runs", deployment(repository+"v1.1.1", CorefileKey), data(CorefileKey, corefile), Wanted{Tag: "v1.14.6"}, nil, "1.1.1"},
		{"no version runs", deployment(repository+"latest", CorefileKey), data(CorefileKey, corefile), Wanted{Tag: "v1.14.6"}, nil, "no version of CoreDNS"},
		{"pinned", deployment(repository+"v1@sha256:"+sum, CorefileKey), data(CorefileKey, corefile), Wanted{Tag: "v1.14.6"}, nil, "digest"},
		{"no Corefile", deployment(repository+"v1.14.4", CorefileKey), nil, Wanted{Tag: "v1.14.6"}, nil, "has no key Corefile"},
		{"another DNS server of that name", &appsv1.Deployment{}, data(CorefileKey, corefile), Wanted{Tag: "v1.14.6"}, nil, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := Decide(row.running, &corev1.ConfigMap{Data: row.data}, row.wanted)
			if row.problem != "" {
				require.ErrorContains(t, err, row.problem)
				assert.Nil(t, got)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, row.want, got)
		})
	}
}

const sum = "abababababababababababababababababababababababababababababababab"

func TestCorefilesAreMigrated(t *testing.T) {
	got, err := Decide(deployment("k8s.gcr.io/coredns:1.6.7", CorefileKey), &corev1.ConfigMap{Data: map[string]string{CorefileKey: old}}, Wanted{Tag: "1.7.0"})
	require.NoError(t, err)
	assert.Equal(t, old, got.Former)
	assert.NotContains(t, got.Migrated, "upstream", "CoreDNS 1.7.0 would not start with it")
	assert.Contains(t, got.Migrated, "forward . /etc/resolv.conf")
}

func TestCanMigrate(t *testing.T) {
	require.NoError(t, CanMigrate("v1.14.4", "v1.14.6"))
	require.NoError(t, CanMigrate("1.6.2_foo.1", "v1.6.2"))
	require.ErrorIs(t, CanMigrate("v1.14.6", "v1.14.4"), ErrDowngrade)
	require.Error(t, CanMigrate("v1.14.6", "v9.0.0"))
	require.Error(t, CanMigrate("latest", "v1.14.6"))
}
