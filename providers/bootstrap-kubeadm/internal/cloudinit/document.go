package cloudinit

import (
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/internal/firstboot"
)

const (
	initDocument = "/run/kubeadm/kubeadm.yaml"
	joinDocument = "/run/kubeadm/kubeadm-join-config.yaml"
)

type document struct {
	WriteFiles []file        `yaml:"write_files,omitempty"`
	BootCmd    []text        `yaml:"bootcmd,omitempty"`
	RunCmd     []text        `yaml:"runcmd,omitempty"`
	NTP        *ntp          `yaml:"ntp,omitempty"`
	Users      []user        `yaml:"users,omitempty"`
	DiskSetup  map[text]disk `yaml:"disk_setup,omitempty"`
	FSSetup    []filesystem  `yaml:"fs_setup,omitempty"`
	Mounts     [][]text      `yaml:"mounts,omitempty"`
}

type file struct {
	Path        text `yaml:"path"`
	Encoding    text `yaml:"encoding,omitempty"`
	Owner       text `yaml:"owner,omitempty"`
	Permissions text `yaml:"permissions,omitempty"`
	Append      bool `yaml:"append,omitempty"`
	Content     text `yaml:"content"`
}

type ntp struct {
	Enabled *bool  `yaml:"enabled,omitempty"`
	Servers []text `yaml:"servers,omitempty"`
}

type user struct {
	Name              text   `yaml:"name"`
	Passwd            text   `yaml:"passwd,omitempty"`
	Gecos             text   `yaml:"gecos,omitempty"`
	Groups            text   `yaml:"groups,omitempty"`
	HomeDir           text   `yaml:"homedir,omitempty"`
	Inactive          *bool  `yaml:"inactive,omitempty"`
	LockPasswd        *bool  `yaml:"lock_passwd,omitempty"`
	Shell             text   `yaml:"shell,omitempty"`
	PrimaryGroup      text   `yaml:"primary_group,omitempty"`
	Sudo              text   `yaml:"sudo,omitempty"`
	SSHAuthorizedKeys []text `yaml:"ssh_authorized_keys,omitempty"`
}

type disk struct {
	TableType text  `yaml:"table_type,omitempty"`
	Layout    any   `yaml:"layout"`
	Overwrite *bool `yaml:"overwrite,omitempty"`
}

type filesystem struct {
	Label      text   `yaml:"label,omitempty"`
	Filesystem text   `yaml:"filesystem"`
	Device     text   `yaml:"device"`
	Partition  text   `yaml:"partition,omitempty"`
	Overwrite  *bool  `yaml:"overwrite,omitempty"`
	ReplaceFS  text   `yaml:"replace_fs,omitempty"`
	ExtraOpts  []text `yaml:"extra_opts,omitempty"`
}

// Render writes the document.
func Render(in firstboot.Input) ([]byte, error) {
	path := initDocument
	if in.Verb == firstboot.Join {
		path = joinDocument
	}
	kubeadm := in.KubeadmCommand(path) + " && echo success > " + firstboot.Sentinel
	commands := append(append(append([]string(nil), in.PreCommands...), kubeadm), in.PostCommands...)
	d := document{BootCmd: texts(in.BootCommands), RunCmd: texts(commands), NTP: ntpOf(in.NTP), Users: usersOf(in.Users),
		DiskSetup: disksOf(in.Disks.Partitions), FSSetup: filesystemsOf(in.Disks.Filesystems)}
	for _, m := range in.Mounts {
		d.Mounts = append(d.Mounts, texts(m))
	}
	for _, f := range append(append([]bootstrapv1.File(nil), in.Certificates...), in.Files...) {
		d.WriteFiles = append(d.WriteFiles, fileOf(f))
	}
	d.WriteFiles = append(d.WriteFiles,
		file{Path: text(path), Owner: "root:root", Permissions: "0640", Content: text(in.Kubeadm)},
		file{Path: firstboot.SentinelDirectory + "/placeholder", Owner: "root:root", Permissions: "0640",
			Content: "This placeholder file is used to create the " + firstboot.SentinelDirectory + " directory."})
	return encode(d)
}

func fileOf(f bootstrapv1.File) file {
	return file{Path: text(f.Path), Encoding: text(f.Encoding), Owner: text(f.Owner), Permissions: text(f.Permissions),
		Append: f.Append != nil && *f.Append, Content: text(f.Content)}
}

func ntpOf(n bootstrapv1.NTP) *ntp {
	if n.Enabled == nil && len(n.Servers) == 0 {
		return nil
	}
	return &ntp{Enabled: n.Enabled, Servers: texts(n.Servers)}
}

func usersOf(users []bootstrapv1.User) []user {
	var out []user
	for _, u := range users {
		out = append(out, user{Name: text(u.Name), Passwd: text(u.Passwd), Gecos: text(u.Gecos), Groups: text(u.Groups), HomeDir: text(u.HomeDir),
			Inactive: u.Inactive, LockPasswd: u.LockPassword, Shell: text(u.Shell), PrimaryGroup: text(u.PrimaryGroup), Sudo: text(u.Sudo),
			SSHAuthorizedKeys: texts(u.SSHAuthorizedKeys)})
	}
	return out
}

// partitionCodes are the names of partition types and what disk tools call them; a GUID stands for itself. The codes are
// hexadecimal; cloud-init wants those that look like a number as one.
var partitionCodes = map[string]any{
	bootstrapv1.PartitionTypeLinux: 83, bootstrapv1.PartitionTypeLinuxSwap: 82, bootstrapv1.PartitionTypeLinuxRAID: text("fd"),
	bootstrapv1.PartitionTypeLVM: text("8e"), bootstrapv1.PartitionTypeFat32: text("0c"), bootstrapv1.PartitionTypeNTFS: text("07"),
	bootstrapv1.PartitionTypeLinuxExtended: 85,
}

func disksOf(partitions []bootstrapv1.Partition) map[text]disk {
	out := map[text]disk{}
	for _, p := range partitions {
		d := disk{TableType: text(p.TableType), Overwrite: p.Overwrite, Layout: p.Layout != nil && *p.Layout}
		if len(p.DiskLayout) > 0 {
			var layout []any
			for _, l := range p.DiskLayout {
				layout = append(layout, part(l))
			}
			d.Layout = layout
		}
		out[text(p.Device)] = d
	}
	return out
}

func part(l bootstrapv1.PartitionDiskLayout) any {
	if l.PartitionType == "" {
		return l.Percentage
	}
	if code, ok := partitionCodes[l.PartitionType]; ok {
		return []any{l.Percentage, code}
	}
	return []any{l.Percentage, text(l.PartitionType)}
}

func filesystemsOf(list []bootstrapv1.Filesystem) []filesystem {
	var out []filesystem
	for _, f := range list {
		out = append(out, filesystem{Label: text(f.Label), Filesystem: text(f.Filesystem), Device: text(f.Device), Partition: text(f.Partition),
			Overwrite: f.Overwrite, ReplaceFS: text(f.ReplaceFS), ExtraOpts: texts(f.ExtraOpts)})
	}
	return out
}
