package payload

import (
	stdjson "encoding/json"
	"errors"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// document is one part of a YAML stream, with the number of its first line.
type document struct {
	text string
	line int
}

// split cuts a stream at its separators. Parts without content are left out.
func split(content []byte) []document {
	var out []document
	var text strings.Builder
	first := 1
	finish := func() {
		if strings.TrimSpace(text.String()) != "" {
			out = append(out, document{text: text.String(), line: first})
		}
		text.Reset()
	}
	for i, line := range strings.Split(strings.TrimPrefix(string(content), "\ufeff"), "\n") {
		if rest, cut := separator(line); cut {
			finish()
			first, line = i+1, rest
		}
		text.WriteString(line + "\n")
	}
	finish()
	return out
}

// separator says whether a line ends a document, and what of the line belongs to the next: a comment, or even content.
func separator(line string) (rest string, cut bool) {
	line = strings.TrimRight(line, " \t\r")
	if line == "---" || line == "..." {
		return "", true
	}
	rest, cut = strings.CutPrefix(line, "---")
	return rest, cut && strings.TrimLeft(rest, " \t") != rest
}

// objects reads the objects of a document: one, those of a list, or those of JSON values in a row.
func (d document) objects() ([]*unstructured.Unstructured, error) {
	if strings.HasPrefix(strings.TrimSpace(d.text), "{") {
		if objects, err := d.values(); err == nil {
			return objects, nil
		}
	}
	content, err := yaml.YAMLToJSON([]byte(d.text))
	if err != nil {
		return nil, err
	}
	return read(content)
}

// values reads JSON values in a row, of which the YAML parser would silently take the first only.
func (d document) values() ([]*unstructured.Unstructured, error) {
	decoder := stdjson.NewDecoder(strings.NewReader(d.text))
	var out []*unstructured.Unstructured
	for {
		var value stdjson.RawMessage
		err := decoder.Decode(&value)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		objects, err := read(value)
		if err != nil {
			return nil, err
		}
		out = append(out, objects...)
	}
}

func read(content []byte) ([]*unstructured.Unstructured, error) {
	o := &unstructured.Unstructured{}
	if err := json.Unmarshal(content, &o.Object); err != nil {
		return nil, errors.New("it is no object")
	}
	if len(o.Object) == 0 {
		return nil, nil // only comments
	}
	return flatten(o)
}

// locate makes the lines that the YAML parser names those of the whole stream.
func (d document) locate(err error) error {
	if _, again := yaml.YAMLToJSON([]byte(strings.Repeat("\n", d.line-1) + d.text)); again != nil {
		return again
	}
	return err
}
