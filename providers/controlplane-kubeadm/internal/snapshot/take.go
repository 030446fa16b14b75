package snapshot

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/sealing"
)

// Store keeps what it is given under names.
type Store interface {
	// Put stores all that the reader gives, as a whole or not at all. What earlier attempts left unfinished goes.
	Put(ctx context.Context, name string, content io.Reader) error
	// Get opens what is stored.
	Get(ctx context.Context, name string) (io.ReadCloser, error)
	// Delete makes sure that nothing is stored under the name, finished or not.
	Delete(ctx context.Context, name string) error
}

// Taken is what is known of a snapshot once it is stored.
type Taken struct {
	// Size and Hash (SHA-256) are of what is stored.
	Size int64
	Hash string
	// DatabaseSize and DatabaseHash (SHA-256) are of the database in it.
	DatabaseSize int64
	DatabaseHash string
}

// Take stores a snapshot that a member streams. Nothing is stored if the stream breaks or its content is not what was sent.
func Take(ctx context.Context, source io.Reader, keys sealing.Keys, store Store, name string) (Taken, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	reader, writer := io.Pipe()
	plain := newChecked(source)
	sealed := make(chan error, 1)
	go func() {
		err := seal(writer, plain, keys)
		_ = writer.CloseWithError(err) // a nil error ends the stream in good order
		sealed <- err
	}()
	counted := &counter{source: reader, hash: sha256.New()}
	err := store.Put(ctx, name, counted)
	// A store that gave up leaves the other side blocked.
	_ = reader.CloseWithError(errors.Join(err, context.Cause(ctx)))
	if failure := <-sealed; failure != nil && err == nil {
		err = failure
	}
	if err != nil {
		return Taken{}, err
	}
	return Taken{
		Size: counted.size, Hash: counted.sum(), DatabaseSize: plain.databaseSize(), DatabaseHash: plain.databaseHash(),
	}, nil
}

func seal(to io.Writer, from io.Reader, keys sealing.Keys) error {
	sealed, err := keys.Seal(to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(sealed, from); err != nil {
		return fmt.Errorf("reading the snapshot: %w", err)
	}
	// Only what is complete gets the end that makes it a document.
	return sealed.Close()
}
