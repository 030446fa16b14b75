package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// number is the form of a rule's number: letters, maybe a hyphen, digits, maybe a letter.
var number = regexp.MustCompile(`^[A-Z]+-?[0-9]+[a-z]?$`)

// differs marks the reason for which a rule is not followed.
const differs = "differs: "

type rule struct {
	number, text string
	// reason says why this implementation does otherwise; empty where it follows the rule.
	reason string
}

type chapter struct {
	name  string
	rules []rule
}

// book is what one document is made of, such as the rules of the core.
type book struct {
	name     string
	chapters []chapter
}

func readBooks(folder string) ([]book, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var books []book
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		files, err := filepath.Glob(filepath.Join(folder, e.Name(), "*.tsv"))
		if err != nil {
			return nil, err
		}
		b := book{name: e.Name()}
		for _, f := range files {
			c, err := readChapter(f)
			if err != nil {
				return nil, err
			}
			b.chapters = append(b.chapters, c)
		}
		books = append(books, b)
	}
	return books, nil
}

func readChapter(path string) (chapter, error) {
	c := chapter{name: strings.TrimSuffix(filepath.Base(path), ".tsv")}
	file, err := os.Open(path)
	if err != nil {
		return c, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		r, err := parseRule(lines.Text())
		if err != nil {
			return c, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		c.rules = append(c.rules, r)
	}
	return c, lines.Err()
}

func parseRule(line string) (rule, error) {
	fields := strings.Split(line, "\t")
	if len(fields) < 2 || len(fields) > 3 {
		return rule{}, fmt.Errorf("want a number, a sentence and maybe a reason with tabs between, have %d fields", len(fields))
	}
	r := rule{number: fields[0], text: strings.TrimSpace(fields[1])}
	if !number.MatchString(r.number) {
		return rule{}, fmt.Errorf("%q is no number of a rule", r.number)
	}
	if r.text == "" {
		return rule{}, fmt.Errorf("%s says nothing", r.number)
	}
	if len(fields) == 3 && strings.TrimSpace(fields[2]) != "" {
		reason, ok := strings.CutPrefix(strings.TrimSpace(fields[2]), differs)
		if !ok || reason == "" {
			return rule{}, fmt.Errorf("%s: the third field is %q and a reason", r.number, differs)
		}
		r.reason = reason
	}
	return r, nil
}
