// Package paging reads long lists from an API server in parts, so that neither side holds all of it at once.
package paging

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Each reads a list with so many objects in a page, and calls take with each page. Every page is a list of its own, made by
// empty, so that what take keeps is not written over.
func Each[L client.ObjectList](ctx context.Context, from client.Reader, empty func() L, size int64, take func(L), opts ...client.ListOption) error {
	next := ""
	for {
		list := empty()
		if err := from.List(ctx, list, append(opts[:len(opts):len(opts)], client.Limit(size), client.Continue(next))...); err != nil {
			return err
		}
		take(list)
		if next = list.GetContinue(); next == "" {
			return nil
		}
	}
}
