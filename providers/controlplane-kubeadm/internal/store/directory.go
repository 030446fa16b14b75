package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"
)

// unfinished ends the names of files that are being written.
const unfinished = ".partial"

// Directory keeps files. It never leaves its root, whatever names and links say.
type Directory struct {
	// Root is what the manager may use; Path is below it.
	Root, Path string
}

// Put implements the store.
func (d Directory) Put(ctx context.Context, name string, content io.Reader) error {
	root, err := d.open(true)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return fmt.Errorf("making the directory: %w", plain(err))
	}
	if err := d.write(ctx, root, name, content); err != nil {
		// What is half there is of no use; if this fails, the next attempt begins by cutting it to nothing.
		_ = root.Remove(name + unfinished)
		return err
	}
	if err := root.Rename(name+unfinished, name); err != nil {
		return fmt.Errorf("giving the file its name: %w", plain(err))
	}
	return syncDirectory(root, path.Dir(name))
}

func (d Directory) write(ctx context.Context, root *os.Root, name string, content io.Reader) error {
	file, err := root.OpenFile(name+unfinished, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("making the file: %w", plain(err))
	}
	defer file.Close()
	if _, err := io.Copy(file, interruptible{ctx, content}); err != nil {
		return fmt.Errorf("writing the file: %w", plain(err))
	}
	if err := file.Sync(); err != nil {
		return fmt.Errorf("writing the file: %w", plain(err))
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("writing the file: %w", plain(err))
	}
	return nil
}

// syncDirectory makes a rename last through a power failure.
func syncDirectory(root *os.Root, name string) error {
	directory, err := root.Open(name)
	if err != nil {
		return fmt.Errorf("opening the directory: %w", plain(err))
	}
	defer directory.Close()
	// Some file systems, such as those over a network, know no sync of directories.
	if err := directory.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return fmt.Errorf("writing the directory: %w", plain(err))
	}
	return nil
}

// Get implements the store.
func (d Directory) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	root, err := d.open(false)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	file, err := root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("opening the file: %w", plain(err))
	}
	return struct {
		io.Reader
		io.Closer
	}{interruptible{ctx, file}, file}, nil
}

// Delete implements the store.
func (d Directory) Delete(_ context.Context, name string) error {
	root, err := d.open(false)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	for _, file := range []string{name + unfinished, name} {
		if err := root.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("deleting the file: %w", plain(err))
		}
	}
	return nil
}

// open opens the directory. The root itself is never made: if it is missing, a volume is not mounted, and what is written
// would be gone with the Pod.
func (d Directory) open(create bool) (*os.Root, error) {
	if !filepath.IsLocal(d.Path) {
		return nil, fmt.Errorf("the directory %q is not below the root for backups", d.Path)
	}
	root, err := os.OpenRoot(d.Root)
	if err != nil {
		return nil, fmt.Errorf("opening the root for backups: %w", plain(err))
	}
	defer root.Close()
	if create {
		if err := root.MkdirAll(d.Path, 0o700); err != nil {
			return nil, fmt.Errorf("making the directory: %w", plain(err))
		}
	}
	directory, err := root.OpenRoot(d.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("opening the directory: %w", plain(err))
	}
	return directory, nil
}

// plain takes the path out of an error: it differs between attempts and says nothing to the user.
func plain(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	var between *os.LinkError
	if errors.As(err, &between) {
		return between.Err
	}
	return err
}

// interruptible stops reading when the context ends.
type interruptible struct {
	ctx    context.Context
	source io.Reader
}

// Read implements io.Reader.
func (i interruptible) Read(p []byte) (int, error) {
	if err := context.Cause(i.ctx); err != nil {
		return 0, err
	}
	return i.source.Read(p)
}
