package testenv

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// The versions whose binaries are used, as the Makefile builds them.
const (
	kubernetesVersion = "v1.37.2"
	etcdVersion       = "v3.7.3"
)

// ErrNoBinaries says that the API server or etcd has not been built yet.
var ErrNoBinaries = errors.New("run `make binaries` first")

// CacheDir is where built binaries are kept: $SLIPWAY_CACHE, or slipway in the user's cache directory.
func CacheDir() (string, error) {
	if dir := os.Getenv("SLIPWAY_CACHE"); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the cache directory (or set SLIPWAY_CACHE): %w", err)
	}
	return filepath.Join(dir, "slipway"), nil
}

func binaries() (apiServer, etcd string, err error) {
	dir, err := CacheDir()
	if err != nil {
		return "", "", err
	}
	apiServer = filepath.Join(dir, "kubernetes", kubernetesVersion, "kube-apiserver"+suffix())
	etcd = filepath.Join(dir, "etcd", etcdVersion, "etcd"+suffix())
	for _, file := range []string{apiServer, etcd} {
		if _, err := os.Stat(file); err != nil {
			return "", "", fmt.Errorf("%s is missing: %w", file, ErrNoBinaries)
		}
	}
	return apiServer, etcd, nil
}

func suffix() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}

type manifests struct {
	crds       []*apiextensionsv1.CustomResourceDefinition
	mutating   []*admissionv1.MutatingWebhookConfiguration
	validating []*admissionv1.ValidatingWebhookConfiguration
	roles      []*rbacv1.ClusterRole
}

// readFiles collects what can be used from every YAML file of the trees; other documents are passed over.
func readFiles(trees []fs.FS) (manifests, error) {
	var m manifests
	for i, tree := range trees {
		err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || (path.Ext(name) != ".yaml" && path.Ext(name) != ".yml") {
				return err
			}
			content, err := fs.ReadFile(tree, name)
			if err != nil {
				return err
			}
			if err := m.add(content, i); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		})
		if err != nil {
			return m, fmt.Errorf("reading manifests: %w", err)
		}
	}
	return m, nil
}

// add takes the documents of one file. Webhook configurations of several modules have the same generated name, so each gets the number of its tree.
func (m *manifests) add(content []byte, tree int) error {
	reader := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal(document, &kind); err != nil {
			return err
		}
		switch kind.Kind {
		case "CustomResourceDefinition":
			err = decode(document, &m.crds)
		case "MutatingWebhookConfiguration":
			if err = decode(document, &m.mutating); err == nil {
				rename(&m.mutating[len(m.mutating)-1].ObjectMeta, tree)
			}
		case "ValidatingWebhookConfiguration":
			if err = decode(document, &m.validating); err == nil {
				rename(&m.validating[len(m.validating)-1].ObjectMeta, tree)
			}
		case "ClusterRole":
			err = decode(document, &m.roles)
		}
		if err != nil {
			return err
		}
	}
}

func rename(meta *metav1.ObjectMeta, tree int) { meta.Name = fmt.Sprintf("%s-%d", meta.Name, tree) }

func decode[T any](document []byte, into *[]*T) error {
	obj := new(T)
	if err := yaml.UnmarshalStrict(document, obj); err != nil {
		return err
	}
	*into = append(*into, obj)
	return nil
}
