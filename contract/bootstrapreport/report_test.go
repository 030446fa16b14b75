package bootstrapreport_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-capi/slipway/contract/bootstrapreport"
)

func TestMessage(t *testing.T) {
	r := bootstrapreport.Report{
		Step: "kubeadm join", Phase: "preflight", Cause: bootstrapreport.PortInUse, Detail: "[ERROR Port-10250]: Port 10250 is in use",
		Output: "one\ntwo", Then: []string{"postKubeadmCommands[0] failed with status 1"},
	}
	assert.Equal(t, `kubeadm join failed in phase preflight: [ERROR Port-10250]: Port 10250 is in use
Next: find out what listens on the port, in the image or started by preKubeadmCommands, and keep it from starting.
Then postKubeadmCommands[0] failed with status 1
The output ended with:
  one
  two`, r.Message())
	c := r.Condition()
	assert.Equal(t, metav1.ConditionTrue, c.Status)
	assert.Equal(t, "PortInUse", c.Reason)
	assert.Equal(t, r.Headline(), bootstrapreport.HeadlineOf(c.Message))

	r.Retried = true
	assert.Equal(t, metav1.ConditionFalse, r.Condition().Status, "not for good")
	assert.Contains(t, r.Message(), "It is tried again.")
	assert.Equal(t, "Unknown", bootstrapreport.Report{Step: "x"}.Condition().Reason)
	assert.Equal(t, "preKubeadmCommands[1] failed with status 3", bootstrapreport.Report{Step: "preKubeadmCommands[1]", Status: 3}.Headline())
}

func TestLongMessagesKeepTheirBeginning(t *testing.T) {
	r := bootstrapreport.Report{Step: "kubeadm join", Detail: strings.Repeat("ü", 500), Output: strings.Repeat(strings.Repeat("x", 200)+"\n", 100)}
	assert.LessOrEqual(t, len(r.Headline()), 320)
	assert.LessOrEqual(t, len(r.Message()), bootstrapreport.MaxMessage)
	assert.True(t, strings.HasPrefix(r.Message(), "kubeadm join failed: ü"))
	assert.True(t, strings.HasSuffix(r.Message(), "x\n..."), "whole lines")
}

// TestOfOtherProviders: the condition is all that counts, wherever the contract version keeps it.
func TestOfOtherProviders(t *testing.T) {
	object := func(path ...string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{}}
		condition := map[string]any{"type": "BootstrapFailed", "status": "True", "reason": "OwnWord", "message": "boot failed: token abcdef.0123456789abcdef\x1b[0m\n" + strings.Repeat("line\n", 2000)}
		require.NoError(t, unstructured.SetNestedSlice(o.Object, []any{condition}, path...))
		return o
	}
	for _, path := range [][]string{{"status", "conditions"}, {"status", "v1beta2", "conditions"}} {
		c := bootstrapreport.Of(object(path...))
		require.NotNil(t, c)
		assert.Equal(t, "OwnWord", c.Reason)
		assert.Equal(t, "boot failed: token [redacted]", bootstrapreport.HeadlineOf(c.Message))
		assert.LessOrEqual(t, len(c.Message), bootstrapreport.MaxMessage)
	}
	assert.Nil(t, bootstrapreport.Of(&unstructured.Unstructured{Object: map[string]any{}}))
	garbage := bootstrapreport.Of(&unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": "none"}}})
	assert.Nil(t, garbage, "what is no list of conditions reports nothing")
}
