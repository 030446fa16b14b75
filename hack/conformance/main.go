// Command conformance writes docs/conformance/*.md: which test shows which rule of the system's behaviour.
//
// Rules are lines of docs/conformance/<book>/<chapter>.tsv: a number such as MS-04, the rule in a sentence and, where this
// implementation does otherwise on purpose, "differs: " and the reason. A test claims rules by a comment in or right above it:
//
//	// Conformance: MS-04, MS-05
//
// A rule without a test, a claim of a rule that does not exist and a number given twice are errors.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", ".", "the folder of the repository")
	flag.Parse()
	if err := run(*root); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run writes every book, also with rules that lack a test, so that its author sees in the book what the error is about.
func run(root string) error {
	folder := filepath.Join(root, "docs", "conformance")
	books, err := readBooks(folder)
	if err != nil {
		return err
	}
	claims, err := findClaims(root)
	if err != nil {
		return err
	}
	for _, b := range books {
		if err := os.WriteFile(filepath.Join(folder, b.name+".md"), []byte(render(b, claims)), 0o644); err != nil {
			return err
		}
	}
	return errors.Join(check(books, claims)...)
}
