package cloudconfig

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// Document is what a machine should do at its first boot.
type Document struct {
	Files                     []File
	BootCommands, RunCommands []string
	Users                     []User
	// Ignored are the keys of the document that have no effect in a container, sorted.
	Ignored []string
}

// File is a file to write, with its content decoded.
type File struct {
	Path, Owner, Permissions string
	Content                  []byte
	Append, Deferred         bool
}

// User is an account to make.
type User struct {
	Name              string   `json:"name"`
	Gecos             string   `json:"gecos"`
	HomeDir           string   `json:"homedir"`
	Shell             string   `json:"shell"`
	Passwd            string   `json:"passwd"`
	PrimaryGroup      string   `json:"primary_group"`
	Groups            any      `json:"groups"`
	Sudo              any      `json:"sudo"`
	Inactive          any      `json:"inactive"`
	LockPasswd        *bool    `json:"lock_passwd"`
	SSHAuthorizedKeys []string `json:"ssh_authorized_keys"`
}

type rawFile struct {
	Path        string `json:"path"`
	Owner       string `json:"owner"`
	Permissions any    `json:"permissions"`
	Encoding    string `json:"encoding"`
	Content     any    `json:"content"`
	Append      bool   `json:"append"`
	Defer       bool   `json:"defer"`
}

// Parse reads a cloud-config document. The variables fill its templates, if it has any.
func Parse(data []byte, variables map[string]string) (Document, error) {
	text := string(data)
	if first, rest, _ := strings.Cut(text, "\n"); strings.TrimSpace(first) == "## template: jinja" {
		expanded, err := expand(rest, variables)
		if err != nil {
			return Document{}, err
		}
		text = expanded
	}
	if first, _, _ := strings.Cut(text, "\n"); strings.TrimSpace(first) != "#cloud-config" {
		return Document{}, fmt.Errorf("bootstrap data is no cloud-config document: its first line is not #cloud-config")
	}
	keys := map[string]json.RawMessage{}
	if err := yaml.Unmarshal([]byte(text), &keys); err != nil {
		// The parser's message quotes the document, which holds private keys.
		return Document{}, fmt.Errorf("bootstrap data is no valid YAML")
	}
	d := Document{}
	for key, value := range keys {
		if err := d.take(key, value); err != nil {
			return Document{}, fmt.Errorf("bootstrap data, key %s: %w", key, err)
		}
	}
	slices.Sort(d.Ignored)
	return d, nil
}

func (d *Document) take(key string, value json.RawMessage) (err error) {
	switch key {
	case "write_files":
		d.Files, err = files(value)
	case "bootcmd":
		d.BootCommands, err = commands(value)
	case "runcmd":
		d.RunCommands, err = commands(value)
	case "users":
		d.Users, err = users(value)
	default:
		d.Ignored = append(d.Ignored, key)
	}
	return err
}

func files(value json.RawMessage) ([]File, error) {
	var raw []rawFile
	if err := json.Unmarshal(value, &raw); err != nil {
		return nil, fmt.Errorf("not a list of files")
	}
	var out []File
	for _, r := range raw {
		content, err := decode(r.Content, r.Encoding)
		if err != nil {
			return nil, fmt.Errorf("file %s: %w", r.Path, err)
		}
		permissions, err := mode(r.Permissions)
		if err != nil {
			return nil, fmt.Errorf("file %s: %w", r.Path, err)
		}
		out = append(out, File{Path: r.Path, Owner: r.Owner, Permissions: permissions, Content: content, Append: r.Append, Deferred: r.Defer})
	}
	return out, nil
}

// mode takes permissions as text; YAML without quotes makes a number of an octal one.
func mode(value any) (string, error) {
	switch v := value.(type) {
	case nil:
		return "", nil
	case string:
		if _, err := strconv.ParseUint(strings.TrimPrefix(v, "0o"), 8, 32); err != nil {
			return "", fmt.Errorf("permissions %q are no octal number", v)
		}
		return strings.TrimPrefix(v, "0o"), nil
	case float64:
		return fmt.Sprintf("%04o", int64(v)), nil
	}
	return "", fmt.Errorf("permissions are neither text nor a number")
}

func decode(content any, encoding string) ([]byte, error) {
	text := ""
	if content != nil {
		text = fmt.Sprint(content)
	}
	data := []byte(text)
	var err error
	switch encoding {
	case "", "text/plain":
		return data, nil
	case "b64", "base64":
		return unbase64(data)
	case "gz", "gzip":
		return unzip(data)
	case "gz+b64", "gz+base64", "gzip+b64", "gzip+base64":
		if data, err = unbase64(data); err != nil {
			return nil, err
		}
		return unzip(data)
	}
	return nil, fmt.Errorf("encoding %q is unknown", encoding)
}

func unbase64(data []byte) ([]byte, error) {
	data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(data)), ""))
	if err != nil {
		return nil, fmt.Errorf("content is not base64")
	}
	return data, nil
}

func unzip(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err == nil {
		data, err = io.ReadAll(r)
	}
	if err != nil {
		return nil, fmt.Errorf("content is not compressed by gzip")
	}
	return data, nil
}

// commands takes texts for the shell, and lists of words that the shell must not touch.
func commands(value json.RawMessage) ([]string, error) {
	var raw []any
	if err := json.Unmarshal(value, &raw); err != nil {
		return nil, fmt.Errorf("not a list of commands")
	}
	var out []string
	for i, r := range raw {
		switch v := r.(type) {
		case string:
			out = append(out, v)
		case []any:
			words := make([]string, len(v))
			for i := range v {
				words[i] = quote(fmt.Sprint(v[i]))
			}
			out = append(out, strings.Join(words, " "))
		case nil:
		default:
			return nil, fmt.Errorf("command %d is neither text nor a list", i+1)
		}
	}
	return out, nil
}

// users leaves out the word "default", which asks for the account of the distribution.
func users(value json.RawMessage) ([]User, error) {
	var raw []json.RawMessage
	if err := json.Unmarshal(value, &raw); err != nil {
		return nil, fmt.Errorf("not a list of users")
	}
	var out []User
	for i, r := range raw {
		if len(r) > 0 && r[0] == '"' {
			continue
		}
		u := User{}
		if err := json.Unmarshal(r, &u); err != nil || u.Name == "" {
			return nil, fmt.Errorf("user %d has no name, or a field of the wrong type", i+1)
		}
		out = append(out, u)
	}
	return out, nil
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// words takes a list, or a text of words parted by commas.
func words(value any) []string {
	var out []string
	switch v := value.(type) {
	case string:
		for _, w := range strings.Split(v, ",") {
			if w = strings.TrimSpace(w); w != "" {
				out = append(out, w)
			}
		}
	case []any:
		for _, w := range v {
			out = append(out, fmt.Sprint(w))
		}
	}
	return out
}
