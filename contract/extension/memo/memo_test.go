package memo

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhatIsRememberedAndForgotten(t *testing.T) {
	now := time.Unix(0, 0)
	m := New[string](10)
	m.Put("a", []byte("1234"), now.Add(time.Minute))
	m.Put("b", []byte("1234"), now.Add(time.Hour))
	got, ok := m.Get("a", now)
	require.True(t, ok)
	assert.Equal(t, "1234", string(got))
	m.Put("c", []byte("1234"), now.Add(time.Hour))
	_, ok = m.Get("b", now)
	assert.False(t, ok, "what was not used for longest makes room")
	_, ok = m.Get("a", now.Add(time.Minute))
	assert.False(t, ok, "its time is over")
	m.Put("d", []byte("12345678901"), now.Add(time.Hour))
	_, ok = m.Get("d", now)
	assert.False(t, ok, "what is too large is not kept")
	_, ok = m.Get("c", now)
	assert.True(t, ok, "and nothing goes for it")
	m.Put("c", []byte("x"), now.Add(time.Hour))
	got, _ = m.Get("c", now)
	assert.Equal(t, "x", string(got))
}

func TestItsSizeIsWhatItHolds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	m := New[int](100)
	now := time.Unix(0, 0)
	for range 5000 {
		now = now.Add(time.Duration(random.IntN(10)) * time.Second)
		if random.IntN(2) == 0 {
			m.Get(random.IntN(30), now)
		} else {
			m.Put(random.IntN(30), make([]byte, random.IntN(40)), now.Add(time.Duration(random.IntN(100))*time.Second))
		}
		sum := 0
		for e := m.order.Front(); e != nil; e = e.Next() {
			sum += len(e.Value.(entry[int]).content)
		}
		require.Equal(t, sum, m.size)
		require.LessOrEqual(t, m.size, 100)
		require.Len(t, m.at, m.order.Len())
	}
}
