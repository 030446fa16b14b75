package ignition

import (
	"encoding/base64"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/vincent-petithory/dataurl"

	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/internal/firstboot"
)

const (
	scriptPath   = "/etc/kubeadm.sh"
	documentPath = "/etc/kubeadm.yml"
	// fileMode is the mode of a file that names none, as with cloud-init.
	fileMode = 0o644
)

// plan is what the machine gets, in terms that both versions of Ignition have.
type plan struct {
	files       []file
	units       []unit
	users       []user
	disks       []disk
	filesystems []filesystem
}

// file is one path: its contents, if it is written anew, and what is appended to it.
type file struct {
	path        string
	mode        int
	user, group owner
	written     bool
	contents    []byte
	appended    [][]byte
}

// owner is a user or a group, by name or by number; neither means root.
type owner struct {
	name string
	id   *int
}

type unit struct {
	name, contents string
	enabled        bool
}

func newPlan(in firstboot.Input) (*plan, error) {
	p := &plan{}
	for _, f := range slices.Concat(in.Certificates, in.Files) {
		written, err := fileOf(f)
		if err != nil {
			return nil, fmt.Errorf("file %s: %w", f.Path, err)
		}
		p.put(written)
	}
	if err := p.addUsers(in.Users); err != nil {
		return nil, err
	}
	if err := p.addNTP(in.NTP); err != nil {
		return nil, err
	}
	if err := p.addStorage(in.Disks, in.Mounts); err != nil {
		return nil, err
	}
	p.addKubeadm(in)
	return p, nil
}

// put adds a file. A later file of the same path wins, as on a machine that writes one after the other; what is to be
// appended is kept with what it is appended to, since Ignition 3 wants each path once.
func (p *plan) put(f file) {
	at := slices.IndexFunc(p.files, func(have file) bool { return path.Clean(have.path) == path.Clean(f.path) })
	switch {
	case at < 0:
		p.files = append(p.files, f)
	case f.written:
		p.files[at] = f
	default:
		p.files[at].appended = append(p.files[at].appended, f.appended...)
	}
}

// text is a file of root's own.
func (p *plan) text(name string, mode int, contents string) {
	root := owner{name: "root"}
	p.put(file{path: name, mode: mode, user: root, group: root, written: true, contents: []byte(contents)})
}

// addKubeadm comes last: no file of a user stands in for these.
func (p *plan) addKubeadm(in firstboot.Input) {
	p.units = append(p.units, unit{name: "kubeadm.service", enabled: true, contents: section("Unit",
		"Description=Make this machine a Kubernetes node",
		"ConditionPathExists="+documentPath,
		"After=network.target",
	) + section("Service", "Type=oneshot", "ExecStart=/bin/bash "+scriptPath) + section("Install", "WantedBy=multi-user.target")})
	p.text(scriptPath, 0o700, script(in))
	p.text(documentPath, 0o600, in.Kubeadm)
}

// script stops at the first failure. kubeadm's document is moved away after a success and only then, so that a machine that
// reboots tries again until it is a node.
func script(in firstboot.Input) string {
	lines := slices.Concat(
		[]string{"#!/bin/bash", "set -e"},
		in.PreCommands,
		[]string{in.KubeadmCommand(documentPath), "mkdir -p " + firstboot.SentinelDirectory, "echo success > " + firstboot.Sentinel, "mv " + documentPath + " /tmp/"},
		in.PostCommands)
	return strings.Join(lines, "\n") + "\n"
}

func section(name string, lines ...string) string {
	return "[" + name + "]\n" + strings.Join(lines, "\n") + "\n"
}

func (p *plan) addNTP(ntp bootstrapv1.NTP) error {
	if ntp.Enabled == nil && len(ntp.Servers) == 0 {
		return nil
	}
	enabled := ntp.Enabled == nil || *ntp.Enabled
	p.units = append(p.units, unit{name: "ntpd.service", enabled: enabled})
	if !enabled || len(ntp.Servers) == 0 {
		return nil
	}
	lines := []string{"# Nobody may ask this machine for the time or change it, except itself.", "restrict default nomodify nopeer noquery notrap limited kod", "restrict 127.0.0.1", "restrict [::1]"}
	for _, s := range ntp.Servers {
		if s == "" || strings.ContainsAny(s, " \t\r\n") {
			return fmt.Errorf("ntp server %q: must be a host name or an address", s)
		}
		lines = append(lines, "server "+s)
	}
	p.text("/etc/ntp.conf", 0o644, strings.Join(lines, "\n")+"\n")
	return nil
}

func fileOf(f bootstrapv1.File) (file, error) {
	out := file{path: f.Path, mode: fileMode}
	if !path.IsAbs(f.Path) {
		return out, fmt.Errorf("the path must be absolute")
	}
	contents, err := decoded(f.Content, f.Encoding)
	if err != nil {
		return out, err
	}
	if f.Append != nil && *f.Append {
		out.appended = [][]byte{contents}
	} else {
		out.written, out.contents = true, contents
	}
	if f.Permissions != "" {
		mode, err := strconv.ParseUint(f.Permissions, 8, 12)
		if err != nil {
			return out, fmt.Errorf("permissions %q: must be an octal number such as 0640", f.Permissions)
		}
		out.mode = int(mode)
	}
	name, group, _ := strings.Cut(f.Owner, ":")
	out.user, out.group = ownerOf(name), ownerOf(group)
	return out, nil
}

// decoded is what the file shall hold: Ignition does not know the encodings of a File.
func decoded(content, encoding string) ([]byte, error) {
	switch encoding {
	case "":
		return []byte(content), nil
	case bootstrapv1.Base64:
		contents, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(content), ""))
		if err != nil {
			return nil, fmt.Errorf("the content is not base64")
		}
		return contents, nil
	}
	return nil, fmt.Errorf("encoding %s is not available with format ignition", encoding)
}

func ownerOf(text string) owner {
	if id, err := strconv.Atoi(text); err == nil && id >= 0 {
		return owner{id: &id}
	}
	return owner{name: text}
}

// dataURL carries contents inside the document, in the shorter of two spellings: first-boot documents have size limits.
func dataURL(contents []byte) string {
	escaped, encoded := "data:,"+dataurl.Escape(contents), "data:;base64,"+base64.StdEncoding.EncodeToString(contents)
	if len(encoded) < len(escaped) {
		return encoded
	}
	return escaped
}
