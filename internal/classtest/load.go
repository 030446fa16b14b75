package classtest

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/slipway-capi/slipway/internal/manifests"
)

// APIVersion and Kind are those of tests of classes.
const (
	APIVersion = "slipway.dev/v1alpha1"
	Kind       = "ClassTest"
)

// Test is a ClassTest. All of its paths start from the folder of its file.
type Test struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   Metadata `json:"metadata,omitempty"`
	// Files hold the class and its templates, CustomResourceDefinitions that are not built in, and perhaps a Cluster.
	Files []string `json:"files"`
	Cases []Case   `json:"cases"`

	path string
}

// Metadata names a test.
type Metadata struct {
	Name string `json:"name,omitempty"`
}

// Case is one Cluster and what is expected of it. Without an expectation it must only render.
type Case struct {
	Name string `json:"name"`
	// Cluster, or the one of ClusterFile, is rendered; without either, the Cluster of the test's files.
	Cluster     map[string]any `json:"cluster,omitempty"`
	ClusterFile string         `json:"clusterFile,omitempty"`
	// Changes are merged into the Cluster, as by kubectl patch --type merge.
	Changes map[string]any `json:"changes,omitempty"`
	// SkipExternal leaves external patches out.
	SkipExternal bool `json:"skipExternal,omitempty"`

	// Expected are parts of objects. Each is compared with the object of its kind and name, or with all objects of its kind.
	Expected []map[string]any `json:"expected,omitempty"`
	// Unexpected are kinds, or objects by kind and name, that must not be made.
	Unexpected []Object `json:"unexpected,omitempty"`
	// ExpectError is a part of the error that the Cluster must be refused with.
	ExpectError string `json:"expectError,omitempty"`
	// Golden is a file with all objects.
	Golden string `json:"golden,omitempty"`
}

// Object names objects.
type Object struct {
	Kind string `json:"kind"`
	Name string `json:"name,omitempty"`
}

// Find reads the tests of files and, in any depth, of folders, in the order of their paths.
func Find(paths []string) ([]*Test, error) {
	var tests []*Test
	for _, path := range paths {
		found, err := find(path)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s holds no %s (apiVersion: %s)", path, Kind, APIVersion)
		}
		tests = append(tests, found...)
	}
	return tests, nil
}

func find(root string) ([]*Test, error) {
	var tests []*Test
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), ".") {
			return filepath.SkipDir
		}
		if err != nil || entry.IsDir() {
			return err
		}
		if ext := filepath.Ext(path); path != root && ext != ".yaml" && ext != ".yml" {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(content, []byte(Kind)) {
			return err
		}
		found, err := parse(path, content)
		tests = append(tests, found...)
		return err
	})
	return tests, err
}

func parse(path string, content []byte) ([]*Test, error) {
	objects, err := manifests.Parse(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var tests []*Test
	for _, o := range objects {
		if o.GetAPIVersion() != APIVersion || o.GetKind() != Kind {
			continue
		}
		raw, err := o.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		test := &Test{path: path}
		if err := yaml.UnmarshalStrict(raw, test); err != nil {
			return nil, fmt.Errorf("%s: %s %s: %w", path, Kind, o.GetName(), err)
		}
		if err := test.check(); err != nil {
			return nil, fmt.Errorf("%s: %s %s: %w", path, Kind, test.Metadata.Name, err)
		}
		tests = append(tests, test)
	}
	return tests, nil
}

// check demands what a test must have to mean something.
func (t *Test) check() error {
	if len(t.Files) == 0 || len(t.Cases) == 0 {
		return fmt.Errorf("needs files, which hold the class, and cases")
	}
	var names []string
	for i, c := range t.Cases {
		switch {
		case c.Name == "":
			return fmt.Errorf("cases[%d] needs a name", i)
		case slices.Contains(names, c.Name):
			return fmt.Errorf("there are two cases %q", c.Name)
		case c.Cluster != nil && c.ClusterFile != "":
			return fmt.Errorf("case %q has both cluster and clusterFile", c.Name)
		case c.ExpectError != "" && (c.Golden != "" || len(c.Expected) > 0 || len(c.Unexpected) > 0):
			return fmt.Errorf("case %q expects an error and objects", c.Name)
		}
		for j, want := range c.Expected {
			if (&unstructured.Unstructured{Object: want}).GetKind() == "" {
				return fmt.Errorf("case %q: expected[%d] needs a kind", c.Name, j)
			}
		}
		names = append(names, c.Name)
	}
	return nil
}

// beside is a path from the folder of the test.
func (t *Test) beside(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(t.path), name)
}

// load reads files.
func (t *Test) load(names ...string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, name := range names {
		content, err := os.ReadFile(t.beside(name))
		if err != nil {
			return nil, err
		}
		found, err := manifests.Parse(content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.beside(name), err)
		}
		objects = append(objects, found...)
	}
	return objects, nil
}

// ClusterAmong is the one Cluster among objects.
func ClusterAmong(objects []*unstructured.Unstructured) (*unstructured.Unstructured, error) {
	var found []*unstructured.Unstructured
	for _, o := range objects {
		if o.GetKind() == "Cluster" && strings.HasPrefix(o.GetAPIVersion(), "cluster.x-k8s.io/") {
			found = append(found, o)
		}
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("there must be one Cluster, not %d", len(found))
	}
	return found[0], nil
}
