package ignition

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// typeNames are the names that a Container Linux Config has for types of partitions.
var typeNames = map[string]string{
	"linux_filesystem_data": "0FC63DAF-8483-4772-8E79-3D69D8477DE4",
	"raid_partition":        "A19D880F-05FC-4D3B-A006-743F0F84911E",
	"swap_partition":        "0657FD6D-A4AB-43C4-84E5-0933C84B4F4F",
	"raid_containing_root":  "BE9067B9-EA49-4F15-B4F6-F36F8C9E1818",
}

// containerLinuxObject translates one object of a Container Linux Config where its shape is not Ignition's.
func (t *translation) containerLinuxObject(at string, out map[string]any) (any, error) {
	switch at {
	case "":
		return out, t.services(out)
	case "storage.files.contents":
		return contents(out)
	case "storage.files", "storage.directories", "storage.links":
		nodeDefaults(at, out)
	case "storage.disks.partitions":
		if id, ok := typeNames[text(out, "typeGuid")]; ok {
			out["typeGuid"] = id
		}
		for from, to := range map[string]string{"size": "sizeMiB", "start": "startMiB"} {
			if err := mebibytes(out, from, to); err != nil {
				return nil, fmt.Errorf("storage.disks.partitions.%s: %w", from, err)
			}
		}
	}
	if hash, ok := out["hash"].(map[string]any); ok && strings.HasSuffix(at, "verification") {
		out["hash"] = text(hash, "function") + "-" + text(hash, "sum")
	}
	return out, nil
}

// contents are written in the config or fetched by the machine.
func contents(out map[string]any) (any, error) {
	if _, ok := out["local"]; ok {
		return nil, fmt.Errorf("storage.files.contents: there are no local files; write the contents inline")
	}
	inline(out)
	if remote, ok := out["remote"].(map[string]any); ok {
		delete(out, "remote")
		for key, v := range remote {
			if key == "url" {
				key = "source"
			}
			out[key] = v
		}
	}
	return out, nil
}

// nodeDefaults: a Container Linux Config need not name the root filesystem, nor the mode.
func nodeDefaults(at string, out map[string]any) {
	if text(out, "filesystem") == "" {
		out["filesystem"] = "root"
	}
	if _, ok := out["mode"]; ok {
		return
	}
	switch at {
	case "storage.files":
		out["mode"] = fileMode
	case "storage.directories":
		out["mode"] = 0o755
	}
}

// mebibytes turns a size with a unit into the number that Ignition wants.
func mebibytes(out map[string]any, from, to string) error {
	v, ok := out[from]
	if !ok {
		return nil
	}
	delete(out, from)
	size := strings.TrimSpace(fmt.Sprint(v))
	if size == "0" {
		return nil
	}
	for suffix, factor := range map[string]float64{"KiB": 1.0 / 1024, "MiB": 1, "GiB": 1024} {
		number, ok := strings.CutSuffix(size, suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if n *= factor; err != nil || n < 0 || n != float64(int(n)) {
			break
		}
		out[to] = int(n)
		return nil
	}
	return fmt.Errorf("%q must be whole mebibytes with a unit, such as 512MiB or 4GiB", size)
}

// services turns the sections about the system's own services into their files. Those that depend on what only the machine
// knows are not here: their place is a unit.
func (t *translation) services(out map[string]any) error {
	for _, name := range []string{"etcd", "flannel", "docker"} {
		if _, ok := out[name]; ok {
			return fmt.Errorf("the section %s is not available; write a drop-in under systemd.units", name)
		}
	}
	var lines []string
	for _, section := range []string{"update", "locksmith"} {
		settings, _ := out[section].(map[string]any)
		delete(out, section)
		for _, key := range slices.Sorted(maps.Keys(settings)) {
			v := settings[key]
			name, ok := updateKeys[key]
			if !ok {
				return fmt.Errorf("%s.%s is not available", section, key)
			}
			if s, ok := v.(bool); ok && !s {
				v = "off" // as YAML reads it without quotes
			}
			if strings.ContainsAny(fmt.Sprint(v), "\r\n") {
				return fmt.Errorf("%s.%s must be one line", section, key)
			}
			lines = append(lines, fmt.Sprintf("%s=%v", name, v))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	slices.Sort(lines)
	storage := child(out, "storage")
	have, _ := storage["files"].([]any)
	storage["files"] = append(have, map[string]any{"filesystem": "root", "path": "/etc/flatcar/update.conf", "mode": fileMode,
		"contents": map[string]any{"source": dataURL([]byte(strings.Join(lines, "\n") + "\n"))}})
	return nil
}

var updateKeys = map[string]string{
	"group": "GROUP", "server": "SERVER", "rebootStrategy": "REBOOT_STRATEGY",
	"windowStart": "LOCKSMITHD_REBOOT_WINDOW_START", "windowLength": "LOCKSMITHD_REBOOT_WINDOW_LENGTH",
}
