// Package memo remembers bytes for a while, up to a bound of their sum. It is for responses that are the same for the same request.
package memo

import (
	"container/list"
	"sync"
	"time"
)

// Memo is safe for concurrent use. The zero value remembers nothing; use [New].
type Memo[K comparable] struct {
	limit int

	mu    sync.Mutex
	size  int
	order *list.List // of entries, the one used last in front
	at    map[K]*list.Element
}

type entry[K comparable] struct {
	key     K
	content []byte
	until   time.Time
}

// New makes a memo that holds at most so many bytes.
func New[K comparable](limit int) *Memo[K] {
	return &Memo[K]{limit: limit, order: list.New(), at: map[K]*list.Element{}}
}

// Get returns what was put under a key, unless its time is over.
func (m *Memo[K]) Get(key K, now time.Time) ([]byte, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	element, ok := m.at[key]
	if !ok {
		return nil, false
	}
	e := element.Value.(entry[K])
	if !now.Before(e.until) {
		m.drop(element)
		return nil, false
	}
	m.order.MoveToFront(element)
	return e.content, true
}

// Put remembers something until a time. What has not been used for longest makes room for it; what alone is too large is not kept.
func (m *Memo[K]) Put(key K, content []byte, until time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if element, ok := m.at[key]; ok {
		m.drop(element)
	}
	if len(content) > m.limit {
		return
	}
	m.at[key] = m.order.PushFront(entry[K]{key, content, until})
	m.size += len(content)
	for m.size > m.limit {
		m.drop(m.order.Back())
	}
}

func (m *Memo[K]) drop(element *list.Element) {
	e := m.order.Remove(element).(entry[K])
	delete(m.at, e.key)
	m.size -= len(e.content)
}
