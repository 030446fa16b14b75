package kubeadmcontrolplane

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// TestExpectations: a machine of the cache counts when it is at least as new as what was written.
func TestExpectations(t *testing.T) {
	gone := metav1.Now()
	for name, row := range map[string]struct {
		seen metav1.ObjectMeta
		want expectation
		met  bool
	}{
		"created":             {metav1.ObjectMeta{UID: "a", ResourceVersion: "9"}, expectation{}, true},
		"not deleted yet":     {metav1.ObjectMeta{UID: "a"}, expectation{uid: "a", deleting: true}, false},
		"deleted":             {metav1.ObjectMeta{UID: "a", DeletionTimestamp: &gone}, expectation{uid: "a", deleting: true}, true},
		"another of the name": {metav1.ObjectMeta{UID: "b"}, expectation{uid: "a", deleting: true, version: "7"}, true},
		"older":               {metav1.ObjectMeta{UID: "a", ResourceVersion: "99"}, expectation{uid: "a", version: "100"}, false},
		"as written":          {metav1.ObjectMeta{UID: "a", ResourceVersion: "100"}, expectation{uid: "a", version: "100"}, true},
		"newer":               {metav1.ObjectMeta{UID: "a", ResourceVersion: "1000"}, expectation{uid: "a", version: "100"}, true},
	} {
		assert.Equal(t, row.met, row.want.met(&clusterv1.Machine{ObjectMeta: row.seen}), name)
	}
}
