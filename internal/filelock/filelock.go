// Package filelock locks a file for the life of a process, so that a lock left by a process that died is never in the way.
package filelock

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrHeld says that another process (or another Lock of this one) holds the lock.
var ErrHeld = errors.New("locked by another process")

// Lock is a held lock.
type Lock struct{ file *os.File }

// glance is how long somebody may be seen with the lock who only asks for its holder, or who has it and is about to say so.
const glance = 200 * time.Millisecond

// Try takes the lock or returns ErrHeld without waiting for its holder. The holder's process id is written into the file.
func Try(path string) (*Lock, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := take(file); err != nil {
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

// take tries until a holder is certain to be more than somebody in Holder.
func take(file *os.File) error {
	for end := time.Now().Add(glance); ; time.Sleep(glance / 20) {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) || time.Now().After(end) {
			return err
		}
	}
}

// writePID replaces what is in the file; a file that was there before is never empty.
func writePID(file *os.File) error {
	line := []byte(strconv.Itoa(os.Getpid()) + "\n")
	if _, err := file.WriteAt(line, 0); err != nil {
		return err
	}
	return file.Truncate(int64(len(line)))
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
	for end := time.Now().Add(glance); ; time.Sleep(glance / 20) {
		pid, err := holder(file)
		if err == nil || time.Now().After(end) {
			return pid, err
		}
	}
}

func holder(file *os.File) (int, error) {
	// A shared lock succeeds unless somebody holds it; asking must not look like holding to another who asks.
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err == nil {
		return 0, syscall.Flock(int(file.Fd()), syscall.LOCK_UN)
	}
	content, err := io.ReadAll(io.NewSectionReader(file, 0, 64))
	if err != nil {
		return 0, err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		return 0, fmt.Errorf("%s holds no process id: %w", file.Name(), err)
	}
	return pid, nil
}
