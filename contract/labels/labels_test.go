package labels_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/labels"
)

// Conformance: SH-28
func TestValue(t *testing.T) {
	long := strings.Repeat("a", 64)
	for _, c := range []struct{ name, want string }{
		{"short", "short"},
		{"", ""},
		{strings.Repeat("a", 63), strings.Repeat("a", 63)},
		{long, labels.Value(long)},
		{"-not-valid-", labels.Value("-not-valid-")},
	} {
		got := labels.Value(c.name)
		assert.Equal(t, c.want, got)
		assert.Empty(t, validation.IsValidLabelValue(got))
		assert.True(t, labels.Matches(got, c.name))
	}
	assert.Regexp(t, `^hash_[A-Za-z0-9_-]{6}_z$`, labels.Value(long))
	assert.Equal(t, "hash_2W8PhQ_z", labels.Value(long), "what stands in objects of other implementations")
	assert.Equal(t, "hash_wTVuJg_z", labels.Value("machine-deployment-with-a-name-of-more-than-sixty-three-characters-0"))
	assert.NotEqual(t, labels.Value(long), labels.Value(long+"a"))
	assert.False(t, labels.Matches("other", "short"))
}

func TestClusterName(t *testing.T) {
	m := &clusterv1.Machine{}
	assert.Empty(t, labels.ClusterName(m))
	assert.True(t, labels.SetClusterName(m, "c"))
	assert.False(t, labels.SetClusterName(m, "c"))
	assert.Equal(t, "c", labels.ClusterName(m))
	assert.Equal(t, map[string]string{clusterv1.ClusterNameLabel: "c"}, labels.OfCluster("c"))
}

func TestSetDoesNotChangeTheOldMap(t *testing.T) {
	old := map[string]string{"a": "b"}
	m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Labels: old}}
	assert.True(t, labels.Set(m, "a", "c"))
	assert.Equal(t, "b", old["a"], "the map may be shared with a cache")
}

func TestControlPlane(t *testing.T) {
	assert.True(t, labels.IsControlPlane(labels.OfControlPlane("c", "cp")))
	assert.False(t, labels.IsControlPlane(labels.OfCluster("c")))
	assert.False(t, labels.IsControlPlane(nil))
}

func TestMerge(t *testing.T) {
	assert.Equal(t, map[string]string{"a": "2", "b": "1"}, labels.Merge(map[string]string{"a": "1", "b": "1"}, nil, map[string]string{"a": "2"}))
}
