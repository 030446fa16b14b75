package ignition

import (
	"encoding/json"
	"strings"

	"github.com/coreos/ignition/v2/config/v3_3"
	"github.com/coreos/ignition/v2/config/v3_3/types"
)

const version3 = "3.3.0"

// write3 writes the plan for Ignition 3.3 and merges the user's Butane config over it.
func (p *plan) write3(extra additional) (any, []string, error) {
	var config types.Config
	p.fill3(&config)
	raw, err := json.Marshal(config)
	if err != nil {
		return nil, nil, err
	}
	if _, report, err := v3_3.Parse(raw); err != nil {
		return nil, nil, reported(strings.TrimSpace(report.String()), err)
	}
	if raw, err = json.Marshal(extra.tree); err != nil {
		return nil, nil, additionalError(err.Error())
	}
	more, report, err := v3_3.Parse(raw)
	if err != nil {
		return nil, nil, additionalError(reported(strings.TrimSpace(report.String()), err).Error())
	}
	var warnings []string
	for _, e := range report.Entries {
		warnings = append(warnings, e.Message)
	}
	return v3_3.Merge(config, more), warnings, nil
}

func (p *plan) fill3(c *types.Config) {
	c.Ignition.Version = version3
	for _, f := range p.files {
		c.Storage.Files = append(c.Storage.Files, file3(f))
	}
	for _, u := range p.units {
		c.Systemd.Units = append(c.Systemd.Units, types.Unit{Name: u.name, Contents: set(u.contents), Enabled: &u.enabled})
	}
	for _, u := range p.users {
		c.Passwd.Users = append(c.Passwd.Users, types.PasswdUser{Name: u.name, Gecos: set(u.gecos), HomeDir: set(u.home), Shell: set(u.shell), PrimaryGroup: set(u.primaryGroup),
			PasswordHash: u.hash, Groups: listOf[types.Group](u.groups), SSHAuthorizedKeys: listOf[types.SSHAuthorizedKey](u.keys)})
	}
	for _, d := range p.disks {
		out := types.Disk{Device: d.device, WipeTable: &d.wipe}
		if d.whole {
			out.Partitions = []types.Partition{{Number: 1, TypeGUID: set(d.kind)}}
		}
		c.Storage.Disks = append(c.Storage.Disks, out)
	}
	for _, f := range p.filesystems {
		c.Storage.Filesystems = append(c.Storage.Filesystems, types.Filesystem{Device: f.device, Format: set(f.format), Label: set(f.label), WipeFilesystem: &f.wipe,
			Options: listOf[types.FilesystemOption](f.options)})
	}
}

func file3(f file) types.File {
	overwrite := f.written
	out := types.File{Node: types.Node{Path: f.path, User: types.NodeUser{Name: set(f.user.name), ID: f.user.id}, Group: types.NodeGroup{Name: set(f.group.name), ID: f.group.id}}}
	out.Mode, out.Overwrite = &f.mode, &overwrite
	if f.written {
		source := dataURL(f.contents)
		out.Contents.Source = &source
	}
	for _, a := range f.appended {
		source := dataURL(a)
		out.Append = append(out.Append, types.Resource{Source: &source})
	}
	return out
}

// set is nil for what is empty.
func set(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
