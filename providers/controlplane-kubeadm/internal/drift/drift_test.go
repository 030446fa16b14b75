package drift

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/randfill"

	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
)

type spec = bootstrapv1.KubeadmConfigSpec

// wanted is a control plane's configuration: init and join form.
func wanted() spec {
	s := spec{Files: []bootstrapv1.File{{Path: "/a", Content: "a"}}, PreKubeadmCommands: []string{"true"}}
	s.ClusterConfiguration.APIServer.ExtraArgs = []bootstrapv1.Arg{{Name: "v", Value: "1"}}
	s.InitConfiguration.NodeRegistration.KubeletExtraArgs = []bootstrapv1.Arg{{Name: "x", Value: "y"}}
	s.JoinConfiguration.NodeRegistration.KubeletExtraArgs = []bootstrapv1.Arg{{Name: "x", Value: "y"}}
	s.JoinConfiguration.ControlPlane = &bootstrapv1.JoinControlPlane{}
	return s
}

func initMachine() spec {
	s := wanted()
	s.JoinConfiguration = bootstrapv1.JoinConfiguration{}
	return s
}
func joinMachine() spec {
	s := wanted()
	s.InitConfiguration = bootstrapv1.InitConfiguration{}
	return s
}

func TestConfig(t *testing.T) {
	no, yes := false, true
	for _, row := range []struct {
		name   string
		stored spec
		change func(stored, want *spec)
		want   []string
	}{
		{"first machine", initMachine(), func(_, _ *spec) {}, nil},
		{"joined machine", joinMachine(), func(_, _ *spec) {}, nil},
		{"join differs from init: the first machine may agree with either", initMachine(), func(_, want *spec) {
			want.JoinConfiguration.NodeRegistration.KubeletExtraArgs = nil
		}, nil},
		{"filled in on join", joinMachine(), func(stored, _ *spec) {
			stored.JoinConfiguration.Discovery.BootstrapToken.Token = "abcdef.0123456789abcdef"
			stored.ClusterConfiguration.ControlPlaneEndpoint = "host:6443"
		}, nil},
		{"the mark of a join was lost", joinMachine(), func(stored, _ *spec) { stored.JoinConfiguration.ControlPlane = nil }, nil},
		{"everything of the join was lost", joinMachine(), func(stored, want *spec) {
			stored.JoinConfiguration = bootstrapv1.JoinConfiguration{}
			want.InitConfiguration = bootstrapv1.InitConfiguration{}
		}, nil},
		{"old defaults", joinMachine(), func(stored, _ *spec) {
			stored.Format = "cloud-config"
			stored.JoinConfiguration.NodeRegistration.ImagePullPolicy = "IfNotPresent"
		}, nil},
		{"zero is absent", joinMachine(), func(stored, want *spec) {
			stored.Files[0].Append = &no
			want.Verbosity = new(int32)
			want.Mounts = [][]string{}
			want.NTP.Enabled = &no
		}, nil},
		{"health check time", initMachine(), func(stored, _ *spec) {
			ten := int32(10)
			stored.InitConfiguration.Timeouts.ControlPlaneComponentHealthCheckSeconds = &ten
		}, nil},
		{"file content", joinMachine(), func(stored, _ *spec) { stored.Files[0].Content = "b" }, []string{"files"}},
		{"argument", initMachine(), func(_, want *spec) { want.ClusterConfiguration.APIServer.ExtraArgs[0].Value = "2" },
			[]string{"clusterConfiguration.apiServer.extraArgs"}},
		{"command order", joinMachine(), func(_, want *spec) { want.PreKubeadmCommands = []string{"a", "b"} }, []string{"preKubeadmCommands"}},
		{"gate that is off", joinMachine(), func(_, want *spec) {
			want.ClusterConfiguration.FeatureGates = map[string]bool{"X": false}
		}, []string{"clusterConfiguration.featureGates.X"}},
		{"gate", joinMachine(), func(_, want *spec) { want.ClusterConfiguration.FeatureGates = map[string]bool{"X": yes} },
			[]string{"clusterConfiguration.featureGates.X"}},
		{"no taints is not kubeadm's taints", joinMachine(), func(_, want *spec) {
			want.JoinConfiguration.NodeRegistration.Taints = &[]corev1.Taint{}
		}, []string{"joinConfiguration.nodeRegistration.taints"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			stored, want := *row.stored.DeepCopy(), wanted()
			row.change(&stored, &want)
			got := Paths(Config(stored, want))
			if len(row.want) == 0 {
				assert.Empty(t, got)
				return
			}
			assert.Equal(t, row.want, got)
		})
	}
}

// BC-18: whatever is set, a stored copy of it compares equal, with every zero value left away or written out.
func TestStoredCopiesAreEqual(t *testing.T) {
	filler := randfill.NewWithSeed(3).NilChance(0.3).NumElements(0, 2).Funcs(
		func(taints *[]corev1.Taint, _ randfill.Continue) { *taints = nil },
	)
	for range 300 {
		want := spec{}
		filler.Fill(&want)
		if want.JoinConfiguration.ControlPlane == nil {
			want.JoinConfiguration.ControlPlane = &bootstrapv1.JoinControlPlane{}
		}
		join := *want.DeepCopy()
		join.InitConfiguration = bootstrapv1.InitConfiguration{}
		require.Empty(t, Config(throughStorage(t, join), want))
		init := *want.DeepCopy()
		init.JoinConfiguration = bootstrapv1.JoinConfiguration{}
		require.Empty(t, Config(throughStorage(t, init), want))
	}
}

func TestValuesAreToldUnlessTheyMayBeSecret(t *testing.T) {
	stored, want := joinMachine(), wanted()
	stored.Files[0].Content, want.PreKubeadmCommands = "password", []string{"echo password"}
	want.Users = []bootstrapv1.User{{Name: "u", Passwd: "password"}}
	want.ClusterConfiguration.Etcd.Local.ImageTag = "3.7.3-0"
	stored.ClusterConfiguration.ImageRepository = "old"
	assert.Equal(t, []Difference{
		{Path: "clusterConfiguration.etcd.local.imageTag", To: `"3.7.3-0"`},
		{Path: "clusterConfiguration.imageRepository", From: `"old"`},
		{Path: "files", From: Hidden, To: Hidden},
		{Path: "preKubeadmCommands", From: Hidden, To: Hidden},
		{Path: "users", To: Hidden},
	}, Config(stored, want))
}

func TestBetween(t *testing.T) {
	assert.Equal(t, []Difference{{Path: "a.b", From: "1", To: "2"}}, Between(
		map[string]any{"a": map[string]any{"b": 1.0}, "c": ""}, map[string]any{"a": map[string]any{"b": 2.0}, "d": []any{}}))
}

// throughStorage drops what is empty, as an API server does with a document that left it away.
func throughStorage(t *testing.T, s spec) spec {
	t.Helper()
	encoded, err := json.Marshal(s)
	require.NoError(t, err)
	var data any
	require.NoError(t, json.Unmarshal(encoded, &data))
	encoded, err = json.Marshal(withoutEmpty(data))
	require.NoError(t, err)
	var out spec
	require.NoError(t, json.Unmarshal(encoded, &out))
	return out
}

var meaningful = sets.New("taints", "featureGates")

func withoutEmpty(value any) any {
	object, ok := value.(map[string]any)
	if !ok {
		return value
	}
	for key, child := range object {
		if !meaningful.Has(key) {
			child = withoutEmpty(child)
		}
		object[key] = child
		switch typed := child.(type) {
		case nil:
			delete(object, key)
		case string:
			if typed == "" {
				delete(object, key)
			}
		case float64:
			if typed == 0 {
				delete(object, key)
			}
		case bool:
			if !typed {
				delete(object, key)
			}
		case []any:
			if len(typed) == 0 && !meaningful.Has(key) {
				delete(object, key)
			}
		case map[string]any:
			if len(typed) == 0 && key != "controlPlane" {
				delete(object, key)
			}
		}
	}
	return object
}

// TestInJoinForm: an extension sees every machine as one that joins, and no difference where a rollout sees none.
//
// Conformance: CP-99
func TestInJoinForm(t *testing.T) {
	for name, row := range map[string]struct {
		stored spec
		change func(want *spec)
		want   []string
	}{
		"first machine":       {initMachine(), func(*spec) {}, nil},
		"joined machine":      {joinMachine(), func(*spec) {}, nil},
		"what init alone has": {initMachine(), func(want *spec) { want.JoinConfiguration.NodeRegistration.KubeletExtraArgs = nil }, nil},
		"a command": {initMachine(), func(want *spec) { want.PreKubeadmCommands = []string{"false"} },
			[]string{"preKubeadmCommands"}},
		"an argument": {initMachine(), func(want *spec) {
			want.InitConfiguration.NodeRegistration.KubeletExtraArgs[0].Value = "z"
			want.JoinConfiguration.NodeRegistration.KubeletExtraArgs[0].Value = "z"
		}, []string{"joinConfiguration.nodeRegistration.kubeletExtraArgs"}},
		"what replaces no machine": {joinMachine(), func(want *spec) {
			want.ClusterConfiguration.DNS.ImageTag = "v1"
			want.PreKubeadmCommands = nil
		}, []string{"preKubeadmCommands"}},
	} {
		t.Run(name, func(t *testing.T) {
			want := wanted()
			row.change(&want)
			got := InJoinForm(row.stored, want)
			assert.Empty(t, Joined(got, joinForm(got)))
			assert.True(t, SameMeaning(spec{InitConfiguration: got.InitConfiguration}, spec{}), "nothing of init is left")
			var paths []string
			for _, d := range Joined(got, want) {
				paths = append(paths, d.Path)
			}
			assert.Equal(t, row.want, paths)
			assert.Equal(t, want.ClusterConfiguration.DNS, got.ClusterConfiguration.DNS)
		})
	}
}
