package patches

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
)

// chance are functions of the library whose results differ from one call to the next, besides those that the library itself
// leaves out: a template must always give the same.
var chance = []string{
	"ago", "bcrypt", "buildCustomCert", "derivePassword", "encryptAES", "decryptAES", "genCA", "genCAWithKey", "genPrivateKey",
	"genSelfSignedCert", "genSelfSignedCertWithKey", "genSignedCert", "genSignedCertWithKey", "htpasswd", "randInt", "shuffle",
	// These read dates in the zone of the machine.
	"mustDateModify", "must_date_modify", "mustToDate", "toDate",
}

// maxElements bounds what one call of a function can make of a small number.
const maxElements = 10000

// functions are those that templates of classes may use: pure, without environment, network, time and chance, and bounded.
var functions = safeFunctions()

func safeFunctions() template.FuncMap {
	all := sprig.HermeticTxtFuncMap()
	for _, name := range chance {
		delete(all, name)
	}
	maps.Copy(all, template.FuncMap{
		"repeat": func(count int, text string) (string, error) {
			if count < 0 || count*max(len(text), 1) > maxOutput {
				return "", fmt.Errorf("repeat makes more than %d characters", maxOutput)
			}
			return strings.Repeat(text, count), nil
		},
		"until":     func(count int) ([]int, error) { return steps(0, count, sign(count)) },
		"untilStep": steps,
		"seq":       bounded(all["seq"].(func(...int) string)),
		"keys":      sortedKeys,
		"values":    sortedValues,
		// The library allocates the whole width first.
		"indent":  func(n int, text string) (string, error) { return indent(n, text) },
		"nindent": func(n int, text string) (string, error) { s, err := indent(n, text); return "\n" + s, err },
	})
	return all
}

func sign(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}

func steps(start, stop, step int) ([]int, error) {
	if step == 0 || (stop-start)/step > maxElements || (stop > start) != (step > 0) {
		if step != 0 && (stop-start)/step <= maxElements {
			return []int{}, nil
		}
		return nil, fmt.Errorf("a list of more than %d numbers", maxElements)
	}
	out := []int{}
	for i := start; (step > 0 && i < stop) || (step < 0 && i > stop); i += step {
		out = append(out, i)
	}
	return out, nil
}

func bounded(seq func(...int) string) func(...int) (string, error) {
	return func(params ...int) (string, error) {
		for _, p := range params {
			if p > maxElements || p < -maxElements {
				return "", fmt.Errorf("seq takes numbers up to %d", maxElements)
			}
		}
		return seq(params...), nil
	}
}

func indent(n int, text string) (string, error) {
	if n < 0 || n*(strings.Count(text, "\n")+1) > maxOutput {
		return "", fmt.Errorf("indent makes more than %d characters", maxOutput)
	}
	pad := strings.Repeat(" ", n)
	return pad + strings.ReplaceAll(text, "\n", "\n"+pad), nil
}

// sortedKeys gives the keys of maps in order, where the library gives them in any.
func sortedKeys(dicts ...map[string]any) []string {
	var out []string
	for _, d := range dicts {
		out = append(out, slices.Sorted(maps.Keys(d))...)
	}
	return out
}

func sortedValues(dict map[string]any) []any {
	out := make([]any, 0, len(dict))
	for _, key := range slices.Sorted(maps.Keys(dict)) {
		out = append(out, dict[key])
	}
	return out
}

// Functions names the functions that templates may use, in order.
func Functions() []string {
	names := slices.Collect(maps.Keys(functions))
	slices.Sort(names)
	return names
}
