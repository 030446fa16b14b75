package machinedeployment

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Conformance: MS-24, MG-18
func TestOwnWritesAreAwaited(t *testing.T) {
	md := client.ObjectKey{Namespace: "ns", Name: "md"}
	var w writes
	assert.True(t, w.settled(md, nil))

	w.note(md, "set", "9")
	assert.False(t, w.settled(md, nil), "the cache does not show the set yet: no second one")
	w.note(md, "set", "10")
	assert.False(t, w.settled(md, map[string]string{"set": "9"}), "the cache shows it as it was before")
	assert.True(t, w.settled(md, map[string]string{"set": "11"}), "newer is good too")
	assert.True(t, w.settled(md, nil), "once seen is enough")
}
