package paths

import (
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/topology/patches"
)

// Check says which operations of patches do not fit the schemas of the templates that they select. Path is that of the list of
// patches. What is no path into a template at all is refused elsewhere and passes here.
func Check(definitions []clusterv1.ClusterClassPatch, schemas Schemas, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	for i, p := range definitions {
		for j, d := range p.Definitions {
			root := schemas[kindOf(d.Selector)]
			if root == nil {
				continue
			}
			for k, operation := range d.JSONPatches {
				at := path.Index(i).Child("definitions").Index(j).Child("jsonPatches").Index(k)
				problems = append(problems, check(operation, d.Selector.Kind, root, at)...)
			}
		}
	}
	return problems
}

func check(operation clusterv1.JSONPatch, kind string, root *structuralschema.Structural, path *field.Path) field.ErrorList {
	if !patches.Inside(operation.Path) {
		return nil
	}
	at, problem := follow(root, kind, operation.Path)
	if problem != "" {
		return field.ErrorList{field.Invalid(path.Child("path"), operation.Path, problem)}
	}
	if at == nil || operation.Op == "remove" || operation.Value.IsZero() {
		return nil
	}
	var value any
	if json.Unmarshal(operation.Value.Raw, &value) != nil {
		return nil // the API server has read it as JSON
	}
	return judge(at, value, path.Child("value"))
}

// unescape undoes what a JSON pointer does with slashes in names.
var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// follow walks a path and returns the schema where it ends; nil where anything may be.
func follow(root *structuralschema.Structural, kind, pointer string) (*structuralschema.Structural, string) {
	at, walked := root, []string{}
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		token = unescape.Replace(token)
		next, problem := step(at, token)
		if problem != "" {
			if problem == unknown {
				problem = missing(root, at, kind, walked, token)
			} else {
				problem = strings.Join(append([]string{kind}, walked...), ".") + problem
			}
			return nil, problem
		}
		at, walked = next, append(walked, token)
		if at == nil {
			return nil, ""
		}
	}
	return at, ""
}

// unknown stands for a field that a schema does not have.
const unknown = "unknown"

// step takes one step of a path.
func step(at *structuralschema.Structural, token string) (*structuralschema.Structural, string) {
	if next, ok := at.Properties[token]; ok {
		return &next, ""
	}
	switch {
	case at.AdditionalProperties != nil:
		return at.AdditionalProperties.Structural, "" // nil lets everything pass, too
	case at.XPreserveUnknownFields, at.XEmbeddedResource && (token == "apiVersion" || token == "kind" || token == "metadata"):
		return nil, ""
	case at.XIntOrString:
		return nil, " is a number or a string, which has nothing below it"
	case at.Type == "object":
		return nil, unknown
	case at.Type == "array" && (token == "-" || digits(token)):
		return at.Items, ""
	case at.Type == "array":
		return nil, " is a list, which has no fields: add to its end with -, to its beginning with 0, or replace all of it"
	case at.Type == "":
		return nil, ""
	}
	return nil, " is " + article(at.Type) + ", which has nothing below it"
}

func digits(token string) bool { return token != "" && strings.Trim(token, "0123456789") == "" }
