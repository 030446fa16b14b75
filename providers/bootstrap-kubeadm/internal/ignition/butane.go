package ignition

import (
	"errors"
	"fmt"
)

// localFiles are the keys with which Butane reads files beside the config, which do not exist here.
var localFiles = []string{"local", "trees", "contentsLocal", "sshAuthorizedKeysLocal"}

// butaneObject translates one object of a Butane config, whose keys are those of Ignition already.
func (t *translation) butaneObject(at string, out map[string]any) (any, error) {
	for _, key := range localFiles {
		if _, ok := out[key]; ok {
			return nil, fmt.Errorf("%s: there are no local files; write the contents inline", at)
		}
	}
	if _, ok := out["bootDevice"]; ok && at == "" {
		return nil, errors.New("boot_device is not available; write disks, raid and filesystems instead")
	}
	inline(out)
	if at == "storage.filesystems" {
		if with, _ := out["withMountUnit"].(bool); with {
			u, err := mountUnit(text(out, "device"), text(out, "format"), text(out, "path"), stringsOf(out["mountOptions"]))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", at, err)
			}
			t.units = append(t.units, map[string]any{"name": u.name, "contents": u.contents, "enabled": true})
		}
		delete(out, "withMountUnit")
	}
	return out, nil
}

func stringsOf(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, item := range list {
		out = append(out, fmt.Sprint(item))
	}
	return out
}
