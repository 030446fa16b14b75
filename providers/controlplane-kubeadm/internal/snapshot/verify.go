package snapshot

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/sealing"
)

// ErrCorrupt says that a stored snapshot is not what was taken, or no sound database. Trying again will not help.
var ErrCorrupt = errors.New("the snapshot is corrupt")

// Content is what a snapshot holds.
type Content struct {
	Revision, Keys int64
}

// Verify reads a stored snapshot back, compares it with what was taken, decrypts it and opens it as a database. With keys that
// cannot open it, it returns sealing.ErrNoIdentity once it is sure that what is stored is what was sent.
func Verify(ctx context.Context, store Store, name string, taken Taken, keys sealing.Keys) (Content, error) {
	stored, err := store.Get(ctx, name)
	if err != nil {
		return Content{}, err
	}
	defer stored.Close()
	source := &counter{source: stored, hash: sha256.New()}
	content, err := open(source, taken, keys)
	if source.broken != nil {
		return Content{}, fmt.Errorf("reading the snapshot back: %w", source.broken)
	}
	// The rest is read also when something is wrong: what is stored is the first to be judged.
	if _, drained := io.Copy(io.Discard, source); drained != nil {
		return Content{}, fmt.Errorf("reading the snapshot back: %w", drained)
	}
	if source.sum() != taken.Hash {
		return Content{}, fmt.Errorf("%w: the %d bytes that are stored are not the %d that were sent", ErrCorrupt, source.size, taken.Size)
	}
	return content, err
}

// open decrypts into a file without a name, which goes with the process, and looks into it.
func open(source io.Reader, taken Taken, keys sealing.Keys) (Content, error) {
	opened, err := keys.Open(source)
	if errors.Is(err, sealing.ErrNoIdentity) {
		return Content{}, err
	}
	if err != nil {
		return Content{}, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	file, err := nameless()
	if err != nil {
		return Content{}, err
	}
	defer file.Close()
	plain := newChecked(opened)
	into := &writer{to: file}
	_, err = io.Copy(into, plain)
	switch {
	case into.broken != nil:
		return Content{}, fmt.Errorf("writing the snapshot into a temporary file: %w", into.broken)
	case err != nil:
		return Content{}, fmt.Errorf("%w: %w", ErrCorrupt, err)
	case plain.databaseHash() != taken.DatabaseHash:
		return Content{}, fmt.Errorf("%w: it holds another database than the one that was taken", ErrCorrupt)
	}
	return inspect(file)
}

// nameless makes a temporary file that nobody else can open, and that is gone when the process is.
func nameless() (*os.File, error) {
	file, err := os.CreateTemp("", "etcd-snapshot-")
	if err != nil {
		return nil, fmt.Errorf("making a temporary file: %w", err)
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("hiding a temporary file: %w", err), file.Close())
	}
	return file, nil
}

// writer remembers what went wrong with the file, to tell it from what is wrong with the snapshot.
type writer struct {
	to     io.Writer
	broken error
}

// Write implements io.Writer.
func (w *writer) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	w.broken = err
	return n, err
}
