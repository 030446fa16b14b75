package ignition

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/coreos/ignition/config/validate/report"
)

// judge2 asks each part of a config of version 2 whether it is right: the types have a method Validate, and one named after
// each field that needs a look.
func judge2(config any) []report.Entry { return judgeValue(reflect.ValueOf(config)) }

func judgeValue(v reflect.Value) []report.Entry {
	var out []report.Entry
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return judgeValue(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			out = append(out, judgeValue(v.Index(i))...)
		}
	case reflect.Struct:
		out = ask(v, "Validate")
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			out = append(append(out, ask(v, "Validate"+name)...), judgeValue(v.Field(i))...)
		}
	case reflect.String:
		out = ask(v, "Validate")
	}
	return out
}

func ask(v reflect.Value, name string) []report.Entry {
	if validate, ok := v.Type().MethodByName(name); ok && validate.Type.NumIn() == 1 {
		if r, ok := validate.Func.Call([]reflect.Value{v})[0].Interface().(report.Report); ok {
			return r.Entries
		}
	}
	return nil
}

// split tells errors from what is only deprecated or unwise.
func split(entries []report.Entry) (errs, warnings []string) {
	for _, e := range entries {
		if e.Kind == report.EntryError {
			errs = append(errs, e.Message)
		} else {
			warnings = append(warnings, e.Message)
		}
	}
	return errs, warnings
}

func firstError(entries []report.Entry) error {
	if errs, _ := split(entries); len(errs) > 0 {
		return errors.New(errs[0])
	}
	return nil
}

// reported is an error with the first line of a report, which says more than the error does.
func reported(report string, err error) error {
	if line, _, _ := strings.Cut(report, "\n"); line != "" {
		return errors.New(strings.TrimPrefix(line, "error "))
	}
	return err
}

func additionalError(message string) error { return fmt.Errorf("additionalConfig: %s", message) }
