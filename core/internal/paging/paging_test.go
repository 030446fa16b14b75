package paging_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/slipway-capi/slipway/core/internal/paging"
)

// server answers one page after the other, and remembers what it was asked.
type server struct {
	client.Reader
	pages [][]string
	asked []client.ListOptions
}

func (s *server) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	asked := client.ListOptions{}
	asked.ApplyOptions(opts)
	s.asked = append(s.asked, asked)
	n := len(s.asked) - 1
	if n >= len(s.pages) {
		return errors.New("connection lost")
	}
	pods := list.(*corev1.PodList)
	for _, name := range s.pages[n] {
		pods.Items = append(pods.Items, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	if n < 2 {
		pods.Continue = s.pages[n][0]
	}
	return nil
}

func read(s *server) (pages [][]string, err error) {
	err = paging.Each(context.Background(), s, func() *corev1.PodList { return &corev1.PodList{} }, 2, func(l *corev1.PodList) {
		var names []string
		for _, p := range l.Items {
			names = append(names, p.Name)
		}
		pages = append(pages, names)
	}, client.InNamespace("ns"))
	return pages, err
}

func TestEach(t *testing.T) {
	s := &server{pages: [][]string{{"a", "b"}, {"c", "d"}, {"e"}}}
	got, err := read(s)
	require.NoError(t, err)
	assert.Equal(t, s.pages, got)
	require.Len(t, s.asked, 3)
	for i, token := range []string{"", "a", "c"} {
		assert.Equal(t, client.ListOptions{Namespace: "ns", Limit: 2, Continue: token}, s.asked[i])
	}
}

func TestAnErrorEndsTheList(t *testing.T) {
	got, err := read(&server{pages: [][]string{{"a", "b"}}})
	assert.ErrorContains(t, err, "connection lost")
	assert.Equal(t, [][]string{{"a", "b"}}, got)
}
