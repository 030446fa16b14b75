package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// claim is a test that says it shows a rule.
type claim struct {
	// file is the path from the root, with slashes.
	file, test string
}

var marker = regexp.MustCompile(`(?m)^(?://|/\*|\s\*)?\s*Conformance:\s*(.+)$`)

// findClaims reads every test of the repository. The key is the number of the rule.
func findClaims(root string) (map[string][]claim, error) {
	claims := map[string][]claim{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		return claimsOf(root, path, claims)
	})
	return claims, err
}

func claimsOf(root, path string, claims map[string][]claim) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	name, err := filepath.Rel(root, path)
	if err != nil {
		return err
	}
	for _, group := range file.Comments {
		for _, comment := range group.List {
			for _, found := range marker.FindAllStringSubmatch(comment.Text, -1) {
				test := testAt(file, group)
				if test == "" {
					return fmt.Errorf("%s: the claim %q belongs to no test", files.Position(comment.Pos()), strings.TrimSpace(found[0]))
				}
				add(claims, found[1], claim{file: filepath.ToSlash(name), test: test})
			}
		}
	}
	return nil
}

func add(claims map[string][]claim, list string, c claim) {
	for n := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' || r == ' ' || r == '.' }) {
		if !slices.Contains(claims[n], c) {
			claims[n] = append(claims[n], c)
		}
	}
}

// testAt names the test that a comment stands in or right above.
func testAt(file *ast.File, comment *ast.CommentGroup) string {
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || !isTest(f.Name.Name) {
			continue
		}
		if f.Doc == comment || f.Pos() <= comment.Pos() && comment.End() <= f.End() {
			return f.Name.Name
		}
	}
	return ""
}

func isTest(name string) bool {
	for _, prefix := range []string{"Test", "Fuzz", "Benchmark"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
