package snapshot

import (
	"errors"
	"fmt"
	"hash"
	"io"
)

// counter passes on what it reads, counts and hashes it, and remembers what went wrong with the source.
type counter struct {
	source io.Reader
	hash   hash.Hash
	size   int64
	broken error
}

// Read implements io.Reader.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.source.Read(p)
	c.hash.Write(p[:n])
	c.size += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.broken = err
	}
	return n, err
}

func (c *counter) sum() string { return fmt.Sprintf("%x", c.hash.Sum(nil)) }
