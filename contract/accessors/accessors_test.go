package accessors_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-capi/slipway/contract/accessors"
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

func object(t testing.TB, content string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	require.NoError(t, obj.UnmarshalJSON([]byte(`{"apiVersion":"x/v1","kind":"DevThing","metadata":{"name":"t"},`+content+`}`)))
	return obj
}

func number(n int32) *int32 { return &n }
func flag(b bool) *bool     { return &b }

// check reads one path from an object that has it, from one that lacks it, from one where it is null and from one where it has another type.
func check[T any](t *testing.T, path accessors.Path[T], good string, want T, wrong ...string) {
	t.Helper()
	t.Run(path.String(), func(t *testing.T) {
		got, err := path.Get(object(t, good))
		require.NoError(t, err)
		assert.Equal(t, want, got)
		_, err = path.Get(object(t, `"spec":{},"status":{}`))
		require.ErrorIs(t, err, accessors.ErrNotFound)
		assert.ErrorContains(t, err, "DevThing t: "+path.String())
		fallback, err := path.GetOr(object(t, `"spec":null`), want)
		require.NoError(t, err)
		assert.Equal(t, want, fallback)
		for _, content := range wrong {
			_, err = path.Get(object(t, content))
			require.ErrorIs(t, err, accessors.ErrWrongType, content)
			_, err = path.GetOr(object(t, content), want)
			require.ErrorIs(t, err, accessors.ErrWrongType, content)
		}
		obj := object(t, `"spec":{}`)
		require.NoError(t, path.Set(obj, want))
		got, err = path.Get(obj)
		require.NoError(t, err)
		assert.Equal(t, want, got)
		assert.NotPanics(t, func() { obj.DeepCopy() }, "what was set can be copied")
	})
}

// Conformance: CL-14
func TestPaths(t *testing.T) {
	cluster := accessors.InfrastructureCluster("v1beta2")
	check(t, cluster.ControlPlaneEndpoint(), `"spec":{"controlPlaneEndpoint":{"host":"h","port":6443}}`, clusterv1.APIEndpoint{Host: "h", Port: 6443},
		`"spec":{"controlPlaneEndpoint":"h:6443"}`, `"spec":{"controlPlaneEndpoint":{"port":"6443"}}`, `"spec":"none"`)
	check(t, cluster.Provisioned(), `"status":{"initialization":{"provisioned":true}}`, true, `"status":{"initialization":{"provisioned":"true"}}`, `"status":{"initialization":true}`)
	check(t, accessors.InfrastructureCluster("v1beta1").Provisioned(), `"status":{"ready":true}`, true, `"status":{"ready":1}`)

	machine := accessors.InfrastructureMachine("v1beta2")
	check(t, machine.ProviderID(), `"spec":{"providerID":"dev:///m"}`, "dev:///m", `"spec":{"providerID":5}`)
	check(t, machine.Provisioned(), `"status":{"initialization":{"provisioned":false}}`, false, `"status":{"initialization":{"provisioned":0}}`)
	check(t, machine.Addresses(), `"status":{"addresses":[{"type":"InternalIP","address":"10.0.0.1"}]}`,
		[]clusterv1.MachineAddress{{Type: "InternalIP", Address: "10.0.0.1"}}, `"status":{"addresses":"10.0.0.1"}`, `"status":{"addresses":[{"address":7}]}`)
	check(t, machine.FailureDomain(), `"status":{"failureDomain":"a"}`, "a", `"status":{"failureDomain":["a"]}`)
	check(t, machine.SpecFailureDomain(), `"spec":{"failureDomain":"a"}`, "a", `"spec":{"failureDomain":{}}`)
	check(t, machine.Interruptible(), `"status":{"interruptible":true}`, true, `"status":{"interruptible":"yes"}`)
	check(t, machine.Capacity(), `"status":{"capacity":{"cpu":"2"}}`, corev1.ResourceList{"cpu": resource.MustParse("2")}, `"status":{"capacity":["cpu"]}`)

	pool := accessors.InfrastructureMachinePool("v1beta2")
	check(t, pool.ProviderIDList(), `"spec":{"providerIDList":["a","b"]}`, []string{"a", "b"}, `"spec":{"providerIDList":"a"}`, `"spec":{"providerIDList":[1]}`)
	check(t, pool.Replicas(), `"status":{"replicas":3}`, 3, `"status":{"replicas":"3"}`, `"status":{"replicas":1.5}`)
	check(t, pool.InfrastructureMachineKind(), `"status":{"infrastructureMachineKind":"DevMachine"}`, "DevMachine", `"status":{"infrastructureMachineKind":{}}`)

	config := accessors.BootstrapConfig("v1beta2")
	check(t, config.DataSecretName(), `"status":{"dataSecretName":"s"}`, "s", `"status":{"dataSecretName":true}`)
	check(t, config.DataSecretCreated(), `"status":{"initialization":{"dataSecretCreated":true}}`, true, `"status":{"initialization":{"dataSecretCreated":"s"}}`)
	check(t, accessors.BootstrapConfig("v1beta1").DataSecretCreated(), `"status":{"ready":true}`, true, `"status":{"ready":"x"}`)

	plane := accessors.ControlPlane("v1beta2")
	check(t, plane.ControlPlaneEndpoint(), `"spec":{"controlPlaneEndpoint":{"host":"h","port":1}}`, clusterv1.APIEndpoint{Host: "h", Port: 1}, `"spec":{"controlPlaneEndpoint":[]}`)
	check(t, plane.Replicas(), `"spec":{"replicas":0}`, 0, `"spec":{"replicas":"0"}`)
	check(t, plane.Version(), `"spec":{"version":"v1.37.2"}`, "v1.37.2", `"spec":{"version":1.37}`)
	check(t, plane.Initialized(), `"status":{"initialization":{"controlPlaneInitialized":true}}`, true, `"status":{"initialization":{"controlPlaneInitialized":"t"}}`)
	check(t, accessors.ControlPlane("v1beta1").Initialized(), `"status":{"initialized":true}`, true, `"status":{"initialized":"t"}`)
	check(t, plane.ExternallyManaged(), `"status":{"externalManagedControlPlane":true}`, true, `"status":{"externalManagedControlPlane":"t"}`)
}

// Conformance: CL-11, CL-14
func TestFailureDomains(t *testing.T) {
	want := []clusterv1.FailureDomain{{Name: "a", ControlPlane: flag(false)}, {Name: "b", ControlPlane: flag(true), Attributes: map[string]string{"k": "v"}}}
	list := object(t, `"status":{"failureDomains":[{"name":"b","controlPlane":true,"attributes":{"k":"v"}},{"name":"a"}]}`)
	byName := object(t, `"status":{"failureDomains":{"b":{"controlPlane":true,"attributes":{"k":"v"}},"a":{}}}`)
	got, err := accessors.InfrastructureCluster("v1beta2").FailureDomains(list)
	require.NoError(t, err)
	assert.Equal(t, want, got)
	got, err = accessors.InfrastructureCluster("v1beta1").FailureDomains(byName)
	require.NoError(t, err)
	assert.Equal(t, want, got)

	_, err = accessors.InfrastructureCluster("v1beta2").FailureDomains(byName)
	require.ErrorIs(t, err, accessors.ErrWrongType, "the older shape needs the older label")
	_, err = accessors.InfrastructureCluster("v1beta1").FailureDomains(list)
	require.ErrorIs(t, err, accessors.ErrWrongType)
	got, err = accessors.InfrastructureCluster("v1beta2").FailureDomains(object(t, `"status":{}`))
	require.NoError(t, err)
	assert.Empty(t, got)
}

// Conformance: CL-31
func TestCounters(t *testing.T) {
	newer, err := accessors.ControlPlane("v1beta2").Counters(object(t, `"spec":{"replicas":3},"status":{"replicas":3,"readyReplicas":2,"availableReplicas":1,"upToDateReplicas":0}`))
	require.NoError(t, err)
	assert.Equal(t, accessors.Counters{Desired: number(3), Replicas: number(3), Ready: number(2), Available: number(1), UpToDate: number(0)}, newer)
	older, err := accessors.ControlPlane("v1beta1").Counters(object(t, `"spec":{"replicas":3},"status":{"replicas":3,"readyReplicas":2,"unavailableReplicas":4,"updatedReplicas":1}`))
	require.NoError(t, err)
	assert.Equal(t, accessors.Counters{Desired: number(3), Replicas: number(3), Ready: number(2), Available: number(0), UpToDate: number(1)}, older)
	none, err := accessors.ControlPlane("v1beta2").Counters(object(t, `"spec":{}`))
	require.NoError(t, err)
	assert.Zero(t, none)
	_, err = accessors.ControlPlane("v1beta2").Counters(object(t, `"status":{"replicas":"three"}`))
	require.ErrorIs(t, err, accessors.ErrWrongType)
}

func TestVersions(t *testing.T) {
	plane := accessors.ControlPlane("v1beta2")
	for _, c := range []struct {
		content string
		want    []clusterv1.StatusVersion
		wrong   bool
	}{
		{content: `"status":{}`},
		{content: `"status":{"version":"v1.37.2"}`, want: []clusterv1.StatusVersion{{Version: "v1.37.2"}}},
		{content: `"status":{"version":"v1.1.1","versions":[{"version":"v1.36.0","replicas":2},{"version":"v1.37.2","replicas":1}]}`,
			want: []clusterv1.StatusVersion{{Version: "v1.36.0", Replicas: 2}, {Version: "v1.37.2", Replicas: 1}}},
		{content: `"status":{"versions":[{"version":"v1.37.2"},{"version":"v1.36.0"}]}`, wrong: true},
		{content: `"status":{"versions":[{"version":"newest"}]}`, wrong: true},
		{content: `"status":{"versions":{"v1.37.2":1}}`, wrong: true},
	} {
		got, err := plane.Versions(object(t, c.content))
		if c.wrong {
			require.ErrorIs(t, err, accessors.ErrWrongType, c.content)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, c.want, got)
	}
}

func TestPoolFlagInBothPlaces(t *testing.T) {
	pool := accessors.InfrastructureMachinePool("v1beta2")
	for content, want := range map[string]bool{
		`"status":{}`:             false,
		`"status":{"ready":true}`: true,
		`"status":{"initialization":{"provisioned":true}}`:               true,
		`"status":{"ready":true,"initialization":{"provisioned":false}}`: false,
	} {
		got, err := pool.Provisioned(object(t, content))
		require.NoError(t, err)
		assert.Equal(t, want, got, content)
	}
	_, err := pool.Provisioned(object(t, `"status":{"initialization":{"provisioned":"x"}}`))
	require.ErrorIs(t, err, accessors.ErrWrongType)
}

func TestFailureIsOnlyShown(t *testing.T) {
	reason, message := accessors.Failure(object(t, `"status":{"failureReason":"CreateError","failureMessage":"no quota"}`))
	assert.Equal(t, "CreateError no quota", reason+" "+message)
	reason, message = accessors.Failure(object(t, `"status":{"failureReason":7}`))
	assert.Empty(t, reason+message)
}

func TestSetBelowAValueFails(t *testing.T) {
	err := accessors.InfrastructureMachine("v1beta2").Provisioned().Set(object(t, `"status":{"initialization":"none"}`), true)
	require.ErrorIs(t, err, accessors.ErrWrongType)
}

// FuzzAccessors reads every path from any object: the only errors are the two that callers know.
func FuzzAccessors(f *testing.F) {
	f.Add(`{}`, `{"initialization":{"provisioned":true},"failureDomains":[{}]}`)
	f.Add(`{"controlPlaneEndpoint":null,"replicas":-1}`, `{"versions":[{"version":""}],"failureDomains":{"a":null}}`)
	f.Fuzz(func(t *testing.T, spec, status string) {
		var s, st any
		if json.Unmarshal([]byte(spec), &s) != nil || json.Unmarshal([]byte(status), &st) != nil {
			return
		}
		obj := &unstructured.Unstructured{Object: map[string]any{"spec": s, "status": st}}
		for _, version := range []string{"v1beta1", "v1beta2"} {
			_, err1 := accessors.InfrastructureCluster(version).FailureDomains(obj)
			_, err2 := accessors.InfrastructureCluster(version).ControlPlaneEndpoint().Get(obj)
			_, err3 := accessors.ControlPlane(version).Versions(obj)
			_, err4 := accessors.ControlPlane(version).Counters(obj)
			_, err5 := accessors.InfrastructureMachine(version).Addresses().Get(obj)
			_, err6 := accessors.InfrastructureMachinePool(version).Provisioned(obj)
			for _, err := range []error{err1, err2, err3, err4, err5, err6} {
				if err != nil {
					assert.True(t, errors.Is(err, accessors.ErrWrongType) || errors.Is(err, accessors.ErrNotFound), "%v", err)
				}
			}
		}
	})
}

func TestSetVersions(t *testing.T) {
	contract := accessors.ControlPlane(accessors.V1Beta2)
	both := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"version": "v1.36.0", "versions": []any{map[string]any{"version": "v1.36.0", "replicas": int64(3)}}}}}
	require.NoError(t, contract.SetVersions(both, clusterv1.StatusVersion{Version: "v1.37.0", Replicas: 3}))
	found, err := contract.Versions(both)
	require.NoError(t, err)
	assert.Equal(t, []clusterv1.StatusVersion{{Version: "v1.37.0", Replicas: 3}}, found)
	lowest, _, _ := unstructured.NestedString(both.Object, "status", "version")
	assert.Equal(t, "v1.37.0", lowest)
	silent := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{}}}
	require.NoError(t, contract.SetVersions(silent, clusterv1.StatusVersion{Version: "v1.37.0"}))
	assert.Equal(t, map[string]any{"status": map[string]any{}}, silent.Object, "what was not reported stays away")
}
