package image

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/distribution/reference"
)

// ErrDigest says that an image is pinned by its digest: no other version can be named by changing the tag.
var ErrDigest = errors.New("the image is pinned by a digest")

// Image is the name of an image in its parts.
type Image struct {
	// Repository is everything before the last part of the name, such as registry.k8s.io; it may be empty.
	Repository string
	// Name is the last part of the name, such as kube-proxy.
	Name string
	Tag  string
}

// Parse reads the name of an image that has a tag.
func Parse(text string) (Image, error) {
	parsed, err := reference.Parse(text)
	if err != nil {
		return Image{}, fmt.Errorf("image %q: %w", text, err)
	}
	if _, pinned := parsed.(reference.Digested); pinned {
		return Image{}, fmt.Errorf("image %q: %w", text, ErrDigest)
	}
	tagged, ok := parsed.(reference.NamedTagged)
	if !ok {
		return Image{}, fmt.Errorf("image %q has no tag", text)
	}
	repository, name := path.Split(tagged.Name())
	return Image{Repository: strings.TrimSuffix(repository, "/"), Name: name, Tag: tagged.Tag()}, nil
}

// String is the name as a container has it.
func (i Image) String() string { return path.Join(i.Repository, i.Name) + ":" + i.Tag }

// VersionTag is the tag of the images of a Kubernetes version: build metadata follows an underscore, since a tag
// cannot hold a plus sign.
func VersionTag(version string) string { return strings.ReplaceAll(version, "+", "_") }
