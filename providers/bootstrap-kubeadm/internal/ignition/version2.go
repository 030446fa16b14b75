package ignition

import (
	"encoding/json"

	"github.com/coreos/ignition/config/v2_3/types"
	strictjson "sigs.k8s.io/json"
)

const version2 = "2.3.0"

// write2 writes the plan for Ignition 2.3 and appends the user's Container Linux Config.
func (p *plan) write2(extra additional) (any, []string, error) {
	var config, more types.Config
	p.fill2(&config)
	if err := firstError(judge2(config)); err != nil {
		return nil, nil, err
	}
	warnings, err := extra.into(&more)
	if err != nil {
		return nil, nil, err
	}
	errs, warned := split(judge2(more))
	if len(errs) > 0 {
		return nil, nil, additionalError(errs[0])
	}
	return append2(config, more), append(warnings, warned...), nil
}

func (p *plan) fill2(c *types.Config) {
	c.Ignition.Version = version2
	for _, f := range p.files {
		if f.written {
			c.Storage.Files = append(c.Storage.Files, file2(f, f.contents, false))
		}
		for _, a := range f.appended {
			c.Storage.Files = append(c.Storage.Files, file2(f, a, true))
		}
	}
	for _, u := range p.units {
		c.Systemd.Units = append(c.Systemd.Units, types.Unit{Name: u.name, Contents: u.contents, Enabled: &u.enabled})
	}
	for _, u := range p.users {
		c.Passwd.Users = append(c.Passwd.Users, types.PasswdUser{Name: u.name, Gecos: u.gecos, HomeDir: u.home, Shell: u.shell, PrimaryGroup: u.primaryGroup,
			PasswordHash: u.hash, Groups: listOf[types.Group](u.groups), SSHAuthorizedKeys: listOf[types.SSHAuthorizedKey](u.keys)})
	}
	for _, d := range p.disks {
		out := types.Disk{Device: d.device, WipeTable: d.wipe}
		if d.whole {
			out.Partitions = []types.Partition{{Number: 1, TypeGUID: d.kind}}
		}
		c.Storage.Disks = append(c.Storage.Disks, out)
	}
	for _, f := range p.filesystems {
		out := types.Filesystem{Name: f.label, Mount: &types.Mount{Device: f.device, Format: f.format, WipeFilesystem: f.wipe, Options: listOf[types.MountOption](f.options)}}
		if f.label != "" {
			out.Mount.Label = &f.label
		}
		c.Storage.Filesystems = append(c.Storage.Filesystems, out)
	}
}

func file2(f file, contents []byte, more bool) types.File {
	out := types.File{Node: types.Node{Filesystem: "root", Path: f.path}}
	out.Mode, out.Append, out.Contents.Source = &f.mode, more, dataURL(contents)
	if f.user != (owner{}) {
		out.User = &types.NodeUser{Name: f.user.name, ID: f.user.id}
	}
	if f.group != (owner{}) {
		out.Group = &types.NodeGroup{Name: f.group.name, ID: f.group.id}
	}
	return out
}

func listOf[T, S ~string](in []S) []T {
	var out []T
	for _, s := range in {
		out = append(out, T(s))
	}
	return out
}

// append2 is how Ignition 2 puts one config behind another: lists grow, and of what is there twice the machine takes the
// later.
func append2(c, more types.Config) types.Config {
	c.Ignition = more.Ignition
	c.Networkd.Units = append(c.Networkd.Units, more.Networkd.Units...)
	c.Passwd.Users = append(c.Passwd.Users, more.Passwd.Users...)
	c.Passwd.Groups = append(c.Passwd.Groups, more.Passwd.Groups...)
	c.Storage.Directories = append(c.Storage.Directories, more.Storage.Directories...)
	c.Storage.Disks = append(c.Storage.Disks, more.Storage.Disks...)
	c.Storage.Files = append(c.Storage.Files, more.Storage.Files...)
	c.Storage.Filesystems = append(c.Storage.Filesystems, more.Storage.Filesystems...)
	c.Storage.Links = append(c.Storage.Links, more.Storage.Links...)
	c.Storage.Raid = append(c.Storage.Raid, more.Storage.Raid...)
	c.Systemd.Units = append(c.Systemd.Units, more.Systemd.Units...)
	return c
}

// into decodes a translated configuration. What no field takes has no effect, which is a warning.
func (a additional) into(config any) (warnings []string, err error) {
	raw, err := json.Marshal(a.tree)
	if err != nil {
		return nil, additionalError(err.Error())
	}
	unknown, err := strictjson.UnmarshalStrict(raw, config)
	if err != nil {
		return nil, additionalError(err.Error())
	}
	for _, u := range unknown {
		warnings = append(warnings, u.Error()+": it has no effect")
	}
	return warnings, nil
}
