package ignition

import (
	"fmt"
	"path"
	"slices"
	"strings"

	systemd "github.com/coreos/go-systemd/v22/unit"

	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
)

type disk struct {
	device string
	wipe   bool
	// whole is set for one partition over the whole disk; kind is its type, "" for the default.
	whole bool
	kind  string
}

type filesystem struct {
	label, device, format string
	wipe                  bool
	options               []string
}

// partitionKinds are the types of partitions in a GPT.
var partitionKinds = map[string]string{
	bootstrapv1.PartitionTypeLinux:     "0FC63DAF-8483-4772-8E79-3D69D8477DE4",
	bootstrapv1.PartitionTypeLinuxSwap: "0657FD6D-A4AB-43C4-84E5-0933C84B4F4F",
	bootstrapv1.PartitionTypeLinuxRAID: "A19D880F-05FC-4D3B-A006-743F0F84911E",
	bootstrapv1.PartitionTypeLVM:       "E6D6D379-F507-44C2-A23C-238F2A3DF928",
	bootstrapv1.PartitionTypeFat32:     "EBD0A0A2-B9E5-4433-87C0-68B6B72699C7",
	bootstrapv1.PartitionTypeNTFS:      "EBD0A0A2-B9E5-4433-87C0-68B6B72699C7",
}

func (p *plan) addStorage(setup bootstrapv1.DiskSetup, mounts [][]string) error {
	for _, d := range setup.Partitions {
		out, err := diskOf(d)
		if err != nil {
			return fmt.Errorf("disk %s: %w", d.Device, err)
		}
		p.disks = append(p.disks, out)
	}
	for _, f := range setup.Filesystems {
		p.filesystems = append(p.filesystems, filesystem{label: f.Label, device: f.Device, format: f.Filesystem, wipe: isTrue(f.Overwrite), options: f.ExtraOpts})
	}
	for _, m := range mounts {
		u, err := p.mount(m)
		if err != nil {
			return fmt.Errorf("mount %s: %w", strings.Join(m, " "), err)
		}
		p.units = append(p.units, u)
	}
	return nil
}

// diskOf: Ignition divides disks by sizes, not by shares, and nobody knows here how large the disk is.
func diskOf(d bootstrapv1.Partition) (disk, error) {
	out := disk{device: d.Device, wipe: isTrue(d.Overwrite), whole: isTrue(d.Layout)}
	if len(d.DiskLayout) == 0 {
		return out, nil
	}
	only := d.DiskLayout[0]
	if len(d.DiskLayout) > 1 || only.Percentage != 100 {
		return out, fmt.Errorf("diskLayout can only be one partition of 100 percent with format ignition; write others with their sizes under storage.disks of additionalConfig")
	}
	out.whole, out.kind = true, partitionKinds[only.PartitionType]
	if out.kind == "" && only.PartitionType != "" {
		if only.PartitionType == bootstrapv1.PartitionTypeLinuxExtended {
			return out, fmt.Errorf("a gpt has no extended partitions; use partitionType Linux")
		}
		out.kind = only.PartitionType
	}
	return out, nil
}

// mount is a line of fstab as a unit. Its first element names one of the filesystems by label.
func (p *plan) mount(m []string) (unit, error) {
	if len(m) < 2 {
		return unit{}, fmt.Errorf("needs the label of a filesystem and a mount point")
	}
	label := strings.TrimPrefix(m[0], "LABEL=")
	at := slices.IndexFunc(p.filesystems, func(f filesystem) bool { return f.label == label && label != "" })
	if at < 0 {
		return unit{}, fmt.Errorf("no filesystem of diskSetup has the label %q", label)
	}
	target := path.Clean(m[1])
	if !path.IsAbs(target) {
		return unit{}, fmt.Errorf("the mount point must be an absolute path")
	}
	fs := p.filesystems[at]
	return mountUnit(fs.device, fs.format, target, mountOptions(m[2:], fs.format))
}

func mountUnit(device, format, target string, options []string) (unit, error) {
	lines := []string{"What=" + device, "Where=" + target, "Type=" + format}
	if len(options) > 0 {
		lines = append(lines, "Options="+strings.Join(options, ","))
	}
	for i, l := range lines {
		if strings.ContainsAny(l, "\r\n\\") {
			return unit{}, fmt.Errorf("%q: no line breaks and backslashes here", l)
		}
		lines[i] = strings.ReplaceAll(l, "%", "%%") // systemd would fill something in
	}
	check := "systemd-fsck@" + systemd.UnitNamePathEscape(device) + ".service"
	contents := section("Unit", "Description=Mount "+strings.ReplaceAll(target, "%", "%%"), "Requires="+check, "After="+check, "Before=local-fs.target") +
		section("Mount", lines...) + section("Install", "RequiredBy=local-fs.target")
	return unit{name: systemd.UnitNamePathEscape(target) + ".mount", contents: contents, enabled: true}, nil
}

// mountOptions takes what stands behind the mount point for options. Who writes whole lines of fstab means type and checks too.
func mountOptions(rest []string, format string) []string {
	if len(rest) > 0 && (rest[0] == format || rest[0] == "auto") {
		rest = rest[1:]
	}
	var out []string
	for _, o := range rest {
		if strings.Trim(o, "0123456789") != "" {
			out = append(out, o)
		}
	}
	return out
}

func isTrue(b *bool) bool { return b != nil && *b }
