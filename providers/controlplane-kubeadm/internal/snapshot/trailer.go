package snapshot

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
)

// trailer is how etcd ends a snapshot: the SHA-256 of all that comes before.
const trailer = sha256.Size

// databaseUnit divides the size of every database; etcd tells by it whether there is a trailer.
const databaseUnit = 512

// errTorn says that a snapshot ends early, or is not what its member sent.
var errTorn = errors.New("the snapshot does not end with the hash of its content")

// checked passes a snapshot on as it is, and fails instead of ending when its trailer is wrong.
type checked struct {
	source io.Reader
	hash   hash.Hash
	// last is what came last, a trailer at most. It is hashed only when more comes.
	last []byte
	size int64
	end  error
}

func newChecked(source io.Reader) *checked { return &checked{source: source, hash: sha256.New()} }

// Read implements io.Reader.
func (c *checked) Read(p []byte) (int, error) {
	if c.end != nil {
		return 0, c.end
	}
	n, err := c.source.Read(p)
	c.take(p[:n])
	switch {
	case errors.Is(err, io.EOF):
		c.end = c.judge()
	case err != nil:
		c.end = err
	}
	// What was read goes out first: the end comes with the next call.
	if n > 0 {
		return n, nil
	}
	return 0, c.end
}

func (c *checked) take(p []byte) {
	c.size += int64(len(p))
	c.last = append(c.last, p...)
	if rest := len(c.last) - trailer; rest > 0 {
		c.hash.Write(c.last[:rest])
		c.last = append(c.last[:0], c.last[rest:]...)
	}
}

func (c *checked) judge() error {
	switch {
	case c.databaseSize() <= 0 || c.databaseSize()%databaseUnit != 0:
		return fmt.Errorf("%w: it has %d bytes", errTorn, c.size)
	case !bytes.Equal(c.last, c.hash.Sum(nil)):
		return errTorn
	}
	return io.EOF
}

func (c *checked) databaseSize() int64 { return c.size - trailer }

func (c *checked) databaseHash() string { return fmt.Sprintf("%x", c.hash.Sum(nil)) }
