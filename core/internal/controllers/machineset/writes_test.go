package machineset

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Conformance: MS-24, MG-18
func TestOwnWritesAreAwaited(t *testing.T) {
	set := client.ObjectKey{Namespace: "ns", Name: "ms"}
	var w writes
	assert.True(t, w.settled(set, nil))

	w.note(set, "a", true)
	assert.False(t, w.settled(set, map[string]bool{}), "the cache does not show the Machine yet: no second one")
	assert.True(t, w.settled(set, map[string]bool{"a": true}))
	assert.True(t, w.settled(set, map[string]bool{}), "once seen is enough")

	w.note(set, "a", false)
	assert.False(t, w.settled(set, map[string]bool{"a": true}), "the cache does not show the deletion yet: no other one goes")
	assert.True(t, w.settled(set, map[string]bool{"a": false}))

	w.note(set, "b", true)
	assert.True(t, w.settled(client.ObjectKey{Namespace: "ns", Name: "other"}, nil), "sets do not wait for each other")
	w.note(set, "b", true)
	assert.True(t, w.settled(set, map[string]bool{"b": false}), "created and already leaving")
}
