package webhooks_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	ipamv1 "github.com/slipway-capi/slipway/contract/api/ipam/v1beta2"
	"github.com/slipway-capi/slipway/core/config"
)

// Conformance: WH-01
func TestWhereWebhooksAre(t *testing.T) {
	content, err := fs.ReadFile(config.Files, "webhook/manifests.yaml")
	require.NoError(t, err)
	judged := map[string]bool{}
	for _, document := range strings.Split(string(content), "\n---\n") {
		// Both kinds of configuration are the same but for fields that do not matter here.
		c := &admissionv1.ValidatingWebhookConfiguration{}
		require.NoError(t, yaml.Unmarshal([]byte(document), c))
		verb := "/validate-"
		if c.Kind == "MutatingWebhookConfiguration" {
			verb = "/mutate-"
		}
		for _, w := range c.Webhooks {
			require.Len(t, w.Rules, 1, w.Name)
			rule := w.Rules[0]
			plural := rule.Resources[0]
			kind := strings.TrimSuffix(plural, "s")
			if strings.HasSuffix(plural, "sses") {
				kind = strings.TrimSuffix(plural, "es")
			}
			path := verb + strings.ReplaceAll(rule.APIGroups[0], ".", "-") + "-" + rule.APIVersions[0] + "-" + kind
			assert.Equal(t, path, *w.ClientConfig.Service.Path)
			assert.Equal(t, admissionv1.Fail, *w.FailurePolicy, path)
			assert.Equal(t, admissionv1.Equivalent, *w.MatchPolicy, path)
			judged[path] = true
		}
	}
	for _, kind := range []string{"cluster", "machine", "machineset", "machinedeployment", "machinepool", "machinehealthcheck"} {
		assert.True(t, judged["/validate-cluster-x-k8s-io-v1beta2-"+kind], kind)
		assert.True(t, judged["/mutate-cluster-x-k8s-io-v1beta2-"+kind], kind)
	}
	for _, kind := range []string{"cluster-x-k8s-io-v1beta2-clusterclass", "cluster-x-k8s-io-v1beta2-machinedrainrule", "ipam-cluster-x-k8s-io-v1beta2-ipaddress", "ipam-cluster-x-k8s-io-v1beta2-ipaddressclaim"} {
		assert.True(t, judged["/validate-"+kind], kind)
	}
}

// Conformance: IPAM2, IPAM6
func TestAddressesAndTheirClaims(t *testing.T) {
	namespace := env.Namespace(t)
	claim := &ipamv1.IPAddressClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "claim"}}
	require.Error(t, env.Client.Create(t.Context(), claim.DeepCopy()), "a pool is required")
	claim.Spec.PoolRef = ref("Pool", "p")
	require.NoError(t, env.Client.Create(t.Context(), claim))
	address := func(claim string, pool clusterv1.ContractVersionedObjectReference) *ipamv1.IPAddress {
		return &ipamv1.IPAddress{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "a-"},
			Spec: ipamv1.IPAddressSpec{Address: "10.0.0.5", Prefix: 24, ClaimRef: clusterv1.MachineNodeReference{Name: claim}, PoolRef: pool}}
	}
	refused(t, env.Client.Create(t.Context(), address("claim", ref("Pool", "q"))), "spec.poolRef")
	require.NoError(t, env.Client.Create(t.Context(), address("later", ref("Pool", "q"))), "an address may come before its claim")
	good := address("claim", ref("Pool", "p"))
	require.NoError(t, env.Client.Create(t.Context(), good))
	good.Spec.Address = "10.0.0.6"
	refused(t, env.Client.Update(t.Context(), good), "spec")
	claim.Spec.PoolRef.Name = "q"
	refused(t, env.Client.Update(t.Context(), claim), "spec")
}

// Conformance: WH-41
func TestADrainRuleNamesNothingTwice(t *testing.T) {
	rule := &clusterv1.MachineDrainRule{ObjectMeta: metav1.ObjectMeta{Namespace: env.Namespace(t), Name: "rule"}}
	rule.Spec.Drain.Behavior = clusterv1.MachineDrainRuleDrainBehaviorSkip
	of := func(v string) metav1.LabelSelector {
		return metav1.LabelSelector{MatchLabels: map[string]string{"a": v}}
	}
	twice := rule.DeepCopy()
	twice.Spec.Machines = []clusterv1.MachineDrainRuleMachine{{Selector: of("b")}, {Selector: of("b")}}
	refused(t, env.Client.Create(t.Context(), twice), "spec.machines")
	twice = rule.DeepCopy()
	twice.Spec.Pods = []clusterv1.MachineDrainRulePod{{Selector: of("b")}, {Selector: of("b")}}
	refused(t, env.Client.Create(t.Context(), twice), "spec.pods")
	rule.Spec.Machines = []clusterv1.MachineDrainRuleMachine{{Selector: of("b")}, {Selector: of("c")}}
	require.NoError(t, env.Client.Create(t.Context(), rule))
}

// Conformance: WH-60
func TestScaleSubresources(t *testing.T) {
	for _, plural := range []string{"machinedeployments", "machinesets", "machinepools"} {
		content, err := fs.ReadFile(config.CRDs, "crd/bases/cluster.x-k8s.io_"+plural+".yaml")
		require.NoError(t, err)
		crd := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal(content, &crd.Object))
		assert.Equal(t, schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}, crd.GroupVersionKind())
		versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
		require.NoError(t, err)
		for _, v := range versions {
			scale, _, err := unstructured.NestedStringMap(v.(map[string]any), "subresources", "scale")
			require.NoError(t, err)
			want := map[string]string{"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas", "labelSelectorPath": ".status.selector"}
			if plural == "machinepools" {
				delete(want, "labelSelectorPath")
			}
			assert.Equal(t, want, scale, plural)
		}
	}
}
