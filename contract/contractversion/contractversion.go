// Package contractversion finds the API version of a provider's kind that implements the contract, from the labels of
// its CustomResourceDefinition. References hold group and kind only; the label says which version to read.
package contractversion

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// The contract versions, as in the label keys of CRDs, the newest first.
var contracts = []string{"v1beta2", "v1beta1"}

// labelPrefix is followed by the contract version.
const labelPrefix = "cluster.x-k8s.io/"

// ErrNoContract says that a CRD exists but has no label of a contract that we know.
var ErrNoContract = errors.New("the CustomResourceDefinition has no contract label")

// ErrNoCRD says that the kind is not installed. It is not the same as an object that does not exist.
var ErrNoCRD = errors.New("the CustomResourceDefinition is not installed")

// Reader reads the labels of a CRD by name; found is false if there is no such CRD.
type Reader interface {
	CRDLabels(ctx context.Context, name string) (labels map[string]string, found bool, err error)
}

// ReaderFunc is a function that is a Reader.
type ReaderFunc func(ctx context.Context, name string) (map[string]string, bool, error)

// CRDLabels calls the function.
func (f ReaderFunc) CRDLabels(ctx context.Context, name string) (map[string]string, bool, error) {
	return f(ctx, name)
}

// Resolver finds contract versions. The reader behind it is expected to be a cache of CRD metadata.
type Resolver struct {
	reader Reader

	mu    sync.Mutex
	known map[string]choice
}

type choice struct{ label, version, contract string }

// NewResolver makes a Resolver on a reader.
func NewResolver(reader Reader) *Resolver {
	return &Resolver{reader: reader, known: map[string]choice{}}
}

// GVK returns the version of a kind to use and the contract that it implements.
func (r *Resolver) GVK(ctx context.Context, gk schema.GroupKind) (schema.GroupVersionKind, string, error) {
	name := CRDName(gk)
	labels, found, err := r.reader.CRDLabels(ctx, name)
	if err != nil {
		return schema.GroupVersionKind{}, "", fmt.Errorf("reading CustomResourceDefinition %s: %w", name, err)
	}
	if !found {
		return schema.GroupVersionKind{}, "", fmt.Errorf("%s: %w", name, ErrNoCRD)
	}
	c, err := r.choose(name, labels)
	if err != nil {
		return schema.GroupVersionKind{}, "", err
	}
	return gk.WithVersion(c.version), c.contract, nil
}

func (r *Resolver) choose(name string, labels map[string]string) (choice, error) {
	for _, contract := range contracts {
		value := labels[labelPrefix+contract]
		if value == "" {
			continue
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if c, ok := r.known[name]; ok && c.label == value && c.contract == contract {
			return c, nil
		}
		versions := strings.Split(value, "_")
		sort.Slice(versions, func(i, j int) bool {
			return version.CompareKubeAwareVersionStrings(versions[i], versions[j]) > 0
		})
		c := choice{label: value, version: versions[0], contract: contract}
		r.known[name] = c
		return c, nil
	}
	return choice{}, fmt.Errorf("%s: %w: want one of %sv1beta2, %sv1beta1", name, ErrNoContract, labelPrefix, labelPrefix)
}

// CRDName is the name that a kind's CustomResourceDefinition must have: the plural of the kind and the group.
func CRDName(gk schema.GroupKind) string { return Plural(gk.Kind) + "." + gk.Group }

// Plural is the English plural of a kind in lower case, as the contract wants it.
func Plural(kind string) string {
	k := strings.ToLower(kind)
	switch {
	case strings.HasSuffix(k, "s"), strings.HasSuffix(k, "x"), strings.HasSuffix(k, "ch"), strings.HasSuffix(k, "sh"):
		return k + "es"
	case strings.HasSuffix(k, "y") && len(k) > 1 && !strings.ContainsRune("aeiou", rune(k[len(k)-2])):
		return k[:len(k)-1] + "ies"
	}
	return k + "s"
}
