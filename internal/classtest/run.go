package classtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/slipway-capi/slipway/core/render"
	"github.com/slipway-capi/slipway/internal/manifests"
)

// Runner runs tests.
type Runner struct {
	// Definitions are CustomResourceDefinitions that all tests know. Those among the files of a test win.
	Definitions []*unstructured.Unstructured
	// Update writes golden files instead of comparing with them.
	Update bool
}

// Outcome is what came of a case.
type Outcome struct {
	File     string    `json:"file"`
	Test     string    `json:"test,omitempty"`
	Case     string    `json:"case"`
	Passed   bool      `json:"passed"`
	Updated  string    `json:"updated,omitempty"`
	Problems []Problem `json:"problems,omitempty"`
	Warnings []string  `json:"warnings,omitempty"`
}

// Problem is one thing that is not as expected.
type Problem struct {
	What string `json:"what"`
	Diff string `json:"diff,omitempty"`
}

// Run runs tests one after the other. An error says that a test could not be read; what a case shows is in its outcome.
func (r Runner) Run(ctx context.Context, tests []*Test) ([]Outcome, error) {
	known, err := render.New(r.Definitions...)
	if err != nil {
		return nil, err
	}
	var out []Outcome
	for _, test := range tests {
		objects, err := test.load(test.Files...)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", test.path, err)
		}
		renderer := known
		if own := definitions(objects); len(own) > 0 {
			if renderer, err = render.New(slices.Concat(r.Definitions, own)...); err != nil {
				return nil, fmt.Errorf("%s: %w", test.path, err)
			}
		}
		for _, c := range test.Cases {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			outcome := Outcome{File: test.path, Test: test.Metadata.Name, Case: c.Name}
			r.run(ctx, renderer, test, c, objects, &outcome)
			outcome.Passed = len(outcome.Problems) == 0
			out = append(out, outcome)
		}
	}
	return out, nil
}

func definitions(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, o := range objects {
		if o.GetKind() == "CustomResourceDefinition" {
			out = append(out, o)
		}
	}
	return out
}

// run renders the Cluster of a case and compares.
func (r Runner) run(ctx context.Context, renderer *render.Renderer, test *Test, c Case, objects []*unstructured.Unstructured, out *Outcome) {
	cluster, err := test.cluster(c, objects)
	if err != nil {
		out.problem("the Cluster of the case cannot be read: " + err.Error())
		return
	}
	result, err := renderer.Render(ctx, render.Request{Cluster: cluster, Objects: objects, SkipExternal: c.SkipExternal})
	if c.ExpectError != "" {
		out.Problems = append(out.Problems, refusal(c.ExpectError, err)...)
		return
	}
	if err != nil {
		out.problem("the Cluster cannot be rendered: " + err.Error())
		return
	}
	out.Warnings = result.Warnings
	for _, want := range c.Expected {
		out.Problems = append(out.Problems, expected(want, result.Objects)...)
	}
	for _, o := range c.Unexpected {
		out.Problems = append(out.Problems, unexpected(o, result.Objects)...)
	}
	if c.Golden != "" {
		r.golden(test.beside(c.Golden), result.Objects, out)
	}
}

func (o *Outcome) problem(what string) { o.Problems = append(o.Problems, Problem{What: what}) }

// cluster is the Cluster of a case, with the changes of the case.
func (t *Test) cluster(c Case, objects []*unstructured.Unstructured) (*unstructured.Unstructured, error) {
	cluster := &unstructured.Unstructured{Object: c.Cluster}
	if c.Cluster == nil {
		if c.ClusterFile != "" {
			var err error
			if objects, err = t.load(c.ClusterFile); err != nil {
				return nil, err
			}
		}
		var err error
		if cluster, err = ClusterAmong(objects); err != nil {
			return nil, err
		}
	}
	if c.Changes == nil {
		return cluster, nil
	}
	before, err := cluster.MarshalJSON()
	if err != nil {
		return nil, err
	}
	changes, err := json.Marshal(c.Changes)
	if err != nil {
		return nil, err
	}
	after, err := jsonpatch.MergePatch(before, changes)
	if err != nil {
		return nil, fmt.Errorf("changes: %w", err)
	}
	changed := &unstructured.Unstructured{}
	return changed, changed.UnmarshalJSON(after)
}

// golden compares the objects with a file, or writes it.
func (r Runner) golden(path string, objects []*unstructured.Unstructured, out *Outcome) {
	made, err := manifests.Encode(objects)
	if err != nil {
		out.problem(err.Error())
		return
	}
	have, err := os.ReadFile(path)
	switch {
	case err == nil && string(have) == string(made):
	case r.Update:
		if err := write(path, made); err != nil {
			out.problem("writing the golden file: " + err.Error())
			return
		}
		out.Updated = path
	case err != nil:
		out.problem(fmt.Sprintf("the golden file cannot be read (--update writes it): %v", err))
	default:
		out.Problems = append(out.Problems, Problem{"the objects differ from " + path + " (--update accepts them)", diff(string(have), string(made))})
	}
}

func write(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}

func refusal(want string, err error) []Problem {
	switch {
	case err == nil:
		return []Problem{{What: fmt.Sprintf("the Cluster is accepted; an error with %q was expected", want)}}
	case !strings.Contains(err.Error(), want):
		return []Problem{{"the Cluster is refused for another reason than expected", diff(want+"\n", err.Error()+"\n")}}
	}
	return nil
}
