package image

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Image{
		"registry.k8s.io/kube-proxy:v1.37.2":        {Repository: "registry.k8s.io", Name: "kube-proxy", Tag: "v1.37.2"},
		"registry.k8s.io/coredns/coredns:v1.14.6":   {Repository: "registry.k8s.io/coredns", Name: "coredns", Tag: "v1.14.6"},
		"localhost:5000/a/kube-proxy:v1.37.2_k3s.1": {Repository: "localhost:5000/a", Name: "kube-proxy", Tag: "v1.37.2_k3s.1"},
		"kube-proxy:v1": {Name: "kube-proxy", Tag: "v1"},
	} {
		got, err := Parse(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got)
		assert.Equal(t, text, got.String(), "nothing is lost")
	}
}

func TestImagesThatCannotBeChanged(t *testing.T) {
	digest := "registry.k8s.io/kube-proxy@sha256:" + strings.Repeat("ab", 32)
	for text, want := range map[string]string{
		digest: "pinned by a digest", "registry.k8s.io/kube-proxy:v1@sha256:" + strings.Repeat("ab", 32): "pinned by a digest",
		"registry.k8s.io/kube-proxy": "has no tag", "Not An Image": "invalid reference", "": "image",
	} {
		_, err := Parse(text)
		require.ErrorContains(t, err, want, text)
	}
	_, err := Parse(digest)
	require.ErrorIs(t, err, ErrDigest)
}

func TestVersionTag(t *testing.T) {
	assert.Equal(t, "v1.37.2", VersionTag("v1.37.2"))
	assert.Equal(t, "v1.37.2_vendor.1", VersionTag("v1.37.2+vendor.1"))
}
