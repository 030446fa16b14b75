package cloudinit

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
)

const (
	// SentinelDirectory holds the file that tells the infrastructure provider that the boot succeeded.
	SentinelDirectory = "/run/cluster-api"
	// Sentinel is written by the boot script when kubeadm succeeded.
	Sentinel = SentinelDirectory + "/bootstrap-success.complete"

	initDocument = "/run/kubeadm/kubeadm.yaml"
	joinDocument = "/run/kubeadm/kubeadm-join-config.yaml"

	templateMarker = "## template: jinja\n"
	configMarker   = "#cloud-config\n"
)

// Verb is what kubeadm does on the machine.
type Verb string

// The two verbs.
const (
	Init Verb = "init"
	Join Verb = "join"
)

// Input is everything that a machine's document is made of. Files are complete: their sources have been read.
type Input struct {
	Verb Verb
	// Kubeadm is the kubeadm configuration, one or two YAML documents.
	Kubeadm string
	// Certificates come before the user's files, so that a user's file of the same path wins.
	Certificates []bootstrapv1.File
	Files        []bootstrapv1.File
	// Users are complete: their passwords have been read.
	Users                     []bootstrapv1.User
	BootCommands              []string
	PreCommands, PostCommands []string
	NTP                       bootstrapv1.NTP
	Disks                     bootstrapv1.DiskSetup
	Mounts                    [][]string
	Verbosity                 *int32
}

type document struct {
	WriteFiles []file          `yaml:"write_files,omitempty"`
	BootCmd    []string        `yaml:"bootcmd,omitempty"`
	RunCmd     []string        `yaml:"runcmd,omitempty"`
	NTP        *ntp            `yaml:"ntp,omitempty"`
	Users      []user          `yaml:"users,omitempty"`
	DiskSetup  map[string]disk `yaml:"disk_setup,omitempty"`
	FSSetup    []filesystem    `yaml:"fs_setup,omitempty"`
	Mounts     [][]string      `yaml:"mounts,omitempty"`
}

type file struct {
	Path        string `yaml:"path"`
	Encoding    string `yaml:"encoding,omitempty"`
	Owner       string `yaml:"owner,omitempty"`
	Permissions string `yaml:"permissions,omitempty"`
	Append      bool   `yaml:"append,omitempty"`
	Content     string `yaml:"content"`
}

type ntp struct {
	Enabled *bool    `yaml:"enabled,omitempty"`
	Servers []string `yaml:"servers,omitempty"`
}

type user struct {
	Name              string   `yaml:"name"`
	Passwd            string   `yaml:"passwd,omitempty"`
	Gecos             string   `yaml:"gecos,omitempty"`
	Groups            string   `yaml:"groups,omitempty"`
	HomeDir           string   `yaml:"homedir,omitempty"`
	Inactive          *bool    `yaml:"inactive,omitempty"`
	LockPasswd        *bool    `yaml:"lock_passwd,omitempty"`
	Shell             string   `yaml:"shell,omitempty"`
	PrimaryGroup      string   `yaml:"primary_group,omitempty"`
	Sudo              string   `yaml:"sudo,omitempty"`
	SSHAuthorizedKeys []string `yaml:"ssh_authorized_keys,omitempty"`
}

type disk struct {
	TableType string `yaml:"table_type,omitempty"`
	Layout    any    `yaml:"layout"`
	Overwrite *bool  `yaml:"overwrite,omitempty"`
}

type filesystem struct {
	Label      string   `yaml:"label,omitempty"`
	Filesystem string   `yaml:"filesystem"`
	Device     string   `yaml:"device"`
	Partition  string   `yaml:"partition,omitempty"`
	Overwrite  *bool    `yaml:"overwrite,omitempty"`
	ReplaceFS  string   `yaml:"replace_fs,omitempty"`
	ExtraOpts  []string `yaml:"extra_opts,omitempty"`
}

// Render writes the document.
func Render(in Input) ([]byte, error) {
	d := document{BootCmd: in.BootCommands, NTP: ntpOf(in.NTP), Users: usersOf(in.Users), DiskSetup: disksOf(in.Disks.Partitions), FSSetup: filesystemsOf(in.Disks.Filesystems), Mounts: in.Mounts}
	path := initDocument
	if in.Verb == Join {
		path = joinDocument
	}
	for _, f := range append(append([]bootstrapv1.File(nil), in.Certificates...), in.Files...) {
		d.WriteFiles = append(d.WriteFiles, fileOf(f))
	}
	d.WriteFiles = append(d.WriteFiles,
		file{Path: path, Owner: "root:root", Permissions: "0640", Content: in.Kubeadm},
		file{Path: SentinelDirectory + "/placeholder", Owner: "root:root", Permissions: "0640", Content: "This placeholder file is used to create the " + SentinelDirectory + " directory."})
	d.RunCmd = append(append(append([]string(nil), in.PreCommands...), kubeadmCommand(in, path)), in.PostCommands...)
	var asks bool
	d.eachText(func(s *string) { asks = asks || asksForTemplate(*s) })
	if asks {
		d.eachText(func(s *string) { *s = protect(*s) })
	}
	var out bytes.Buffer
	if asks {
		out.WriteString(templateMarker)
	}
	out.WriteString(configMarker)
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(d); err != nil {
		return nil, fmt.Errorf("writing cloud-config: %w", err)
	}
	return out.Bytes(), nil
}

func kubeadmCommand(in Input, path string) string {
	verbosity := ""
	if in.Verbosity != nil {
		verbosity = " --v " + strconv.Itoa(int(*in.Verbosity))
	}
	return fmt.Sprintf("kubeadm %s --config %s%s && echo success > %s", in.Verb, path, verbosity, Sentinel)
}

// instanceData matches a use of cloud-init's instance data, the only thing its templates are for here.
var instanceData = regexp.MustCompile(`\{\{-?\s*(ds|v1)\.`)

// asksForTemplate says whether a text wants cloud-init to fill in instance data.
func asksForTemplate(s string) bool { return instanceData.MatchString(s) }

var (
	templateSyntax = regexp.MustCompile(`\{[{%#]`)
	rawEnd         = regexp.MustCompile(`\{(%[-+]?\s*endraw)`)
)

// protect keeps cloud-init from reading template syntax in a text that does not ask for it. A plus in the closing tag
// keeps the line break after it. An end tag inside the text is split over two raw blocks.
func protect(s string) string {
	if asksForTemplate(s) || !templateSyntax.MatchString(s) {
		return s
	}
	return "{% raw %}" + rawEnd.ReplaceAllString(s, "{{% endraw +%}{% raw %}$1") + "{% endraw +%}"
}

// eachText visits every text of a user.
func (d *document) eachText(visit func(*string)) {
	for i := range d.WriteFiles {
		visit(&d.WriteFiles[i].Content)
		visit(&d.WriteFiles[i].Path)
	}
	for _, l := range [][]string{d.BootCmd, d.RunCmd} {
		for i := range l {
			visit(&l[i])
		}
	}
	for i := range d.Users {
		u := &d.Users[i]
		for _, s := range []*string{&u.Name, &u.Passwd, &u.Gecos, &u.Groups, &u.HomeDir, &u.Shell, &u.PrimaryGroup, &u.Sudo} {
			visit(s)
		}
		for j := range u.SSHAuthorizedKeys {
			visit(&u.SSHAuthorizedKeys[j])
		}
	}
	for i := range d.Mounts {
		for j := range d.Mounts[i] {
			visit(&d.Mounts[i][j])
		}
	}
}

func fileOf(f bootstrapv1.File) file {
	return file{Path: f.Path, Encoding: f.Encoding, Owner: f.Owner, Permissions: f.Permissions, Append: f.Append != nil && *f.Append, Content: f.Content}
}

func ntpOf(n bootstrapv1.NTP) *ntp {
	if n.Enabled == nil && len(n.Servers) == 0 {
		return nil
	}
	return &ntp{Enabled: n.Enabled, Servers: n.Servers}
}

func usersOf(users []bootstrapv1.User) []user {
	var out []user
	for _, u := range users {
		out = append(out, user{Name: u.Name, Passwd: u.Passwd, Gecos: u.Gecos, Groups: u.Groups, HomeDir: u.HomeDir, Inactive: u.Inactive,
			LockPasswd: u.LockPassword, Shell: u.Shell, PrimaryGroup: u.PrimaryGroup, Sudo: u.Sudo, SSHAuthorizedKeys: append([]string(nil), u.SSHAuthorizedKeys...)})
	}
	return out
}

// partitionCodes are the names of partition types and what disk tools call them; a GUID stands for itself.
var partitionCodes = map[string]string{
	bootstrapv1.PartitionTypeLinux: "83", bootstrapv1.PartitionTypeLinuxSwap: "82", bootstrapv1.PartitionTypeLinuxRAID: "fd",
	bootstrapv1.PartitionTypeLVM: "8e", bootstrapv1.PartitionTypeFat32: "0c", bootstrapv1.PartitionTypeNTFS: "07", bootstrapv1.PartitionTypeLinuxExtended: "85",
}

func disksOf(partitions []bootstrapv1.Partition) map[string]disk {
	out := map[string]disk{}
	for _, p := range partitions {
		d := disk{TableType: p.TableType, Overwrite: p.Overwrite, Layout: p.Layout != nil && *p.Layout}
		if len(p.DiskLayout) > 0 {
			var layout []any
			for _, l := range p.DiskLayout {
				layout = append(layout, part(l))
			}
			d.Layout = layout
		}
		out[p.Device] = d
	}
	return out
}

func part(l bootstrapv1.PartitionDiskLayout) any {
	if l.PartitionType == "" {
		return l.Percentage
	}
	code := l.PartitionType
	if c, ok := partitionCodes[strings.TrimSpace(code)]; ok {
		code = c
	}
	return []any{l.Percentage, code}
}

func filesystemsOf(list []bootstrapv1.Filesystem) []filesystem {
	var out []filesystem
	for _, f := range list {
		out = append(out, filesystem{Label: f.Label, Filesystem: f.Filesystem, Device: f.Device, Partition: f.Partition, Overwrite: f.Overwrite, ReplaceFS: f.ReplaceFS, ExtraOpts: f.ExtraOpts})
	}
	return out
}
