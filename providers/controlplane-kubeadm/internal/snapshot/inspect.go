package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"runtime/debug"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/protobuf/proto"
)

const (
	// keyBucket holds every revision of every key.
	keyBucket = "key"
	// revisionLength is that of the name of a revision: two numbers with a stroke between. A deletion has one byte more.
	revisionLength = 17
)

// inspect opens a database read-only and looks at all of it.
func inspect(file *os.File) (content Content, err error) {
	// Of a database that points nowhere, bbolt reads memory that is not there.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			content, err = Content{}, fmt.Errorf("%w: its pages do not fit together", ErrCorrupt)
		}
	}()
	info, err := file.Stat()
	if err != nil {
		return Content{}, fmt.Errorf("looking at the temporary file: %w", err)
	}
	db, err := bbolt.Open(file.Name(), 0o600, &bbolt.Options{ReadOnly: true,
		OpenFile: func(string, int, os.FileMode) (*os.File, error) { return file, nil }})
	if err != nil {
		return Content{}, fmt.Errorf("%w: it is no database: %w", ErrCorrupt, err)
	}
	defer db.Close()
	err = db.View(func(tx *bbolt.Tx) error {
		if tx.Size() > info.Size() {
			return errors.New("it is cut short")
		}
		if content, err = read(tx); err != nil {
			return err
		}
		var first error
		for flaw := range tx.Check() {
			if first == nil {
				first = flaw
			}
		}
		return first
	})
	if err != nil {
		return Content{}, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return content, nil
}

// read goes through all revisions. Of the keys that live it remembers only hashes: that is enough to count them.
func read(tx *bbolt.Tx) (Content, error) {
	bucket := tx.Bucket([]byte(keyBucket))
	if bucket == nil {
		return Content{}, errors.New("it has no keys: it is no database of etcd")
	}
	seed, live := maphash.MakeSeed(), map[uint64]struct{}{}
	var content Content
	err := bucket.ForEach(func(name, value []byte) error {
		if len(name) != revisionLength && len(name) != revisionLength+1 {
			return errors.New("a revision has no proper name")
		}
		kv := &mvccpb.KeyValue{}
		if err := proto.Unmarshal(value, kv); err != nil {
			return errors.New("a value cannot be read")
		}
		content.Revision = int64(binary.BigEndian.Uint64(name))
		if key := maphash.Bytes(seed, kv.Key); len(name) == revisionLength {
			live[key] = struct{}{}
		} else {
			delete(live, key)
		}
		return nil
	})
	content.Keys = int64(len(live))
	return content, err
}
