// Package filelock locks a file for the life of a process, so that a lock left by a process that died is never in the way.
package filelock

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// ErrHeld says that another process (or another Lock of this one) holds the lock.
var ErrHeld = errors.New("locked by another process")

// Lock is a held lock.
type Lock struct{ file *os.File }

// Try takes the lock or returns ErrHeld at once. The holder's process id is written into the file.
func Try(path string) (*Lock, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s: %w", path, ErrHeld)
		}
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	if err := writePID(file); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("writing %s: %w", path, err)
	}
	return &Lock{file: file}, nil
}

func writePID(file *os.File) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// Release gives the lock up.
func (l *Lock) Release() error { return l.file.Close() }

// IsHeld says whether an error of Try means that somebody else has the lock.
func IsHeld(err error) bool { return errors.Is(err, ErrHeld) }

// Holder returns the process id of whoever holds the lock, or 0 when nobody does.
func Holder(path string) (int, error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	// A shared lock succeeds unless somebody holds it; asking must not look like holding to another who asks.
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err == nil {
		return 0, nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		return 0, fmt.Errorf("%s holds no process id: %w", path, err)
	}
	return pid, nil
}
