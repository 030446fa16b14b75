package ignition

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/internal/firstboot"
)

func TestContainerLinuxConfig(t *testing.T) {
	_, w := render(t, firstboot.Input{}, extra(containerLinux))
	assert.Equal(t, "2.3.0", w.Ignition.Version)
	var dropins []string
	for _, u := range w.Systemd.Units {
		for _, d := range u.Dropins {
			dropins = append(dropins, u.Name+"/"+d.Name)
		}
		if u.Name == "locksmithd.service" {
			assert.True(t, *u.Mask)
		}
	}
	assert.Equal(t, []string{"kubeadm.service/10-flatcar.conf"}, dropins, "the user adds to a unit of ours")
	assert.Equal(t, []any{map[string]any{"label": "one", "number": 1.0, "sizeMiB": 4096.0, "startMiB": 1.0, "typeGuid": typeNames["raid_partition"]},
		map[string]any{"label": "two", "number": 2.0, "sizeMiB": 2.0}}, w.Storage.Disks[0]["partitions"])
	assert.Equal(t, map[string]any{"name": "array", "level": "raid1", "devices": []any{"/dev/sdf1", "/dev/sdg1"}, "spares": 1.0}, w.Storage.Raid[0])
	assert.Equal(t, map[string]any{"name": "array", "mount": map[string]any{"device": "/dev/md/array", "format": "ext4", "wipeFilesystem": true, "label": "array"}}, w.Storage.Filesystems[0])
	assert.Equal(t, map[string]any{"filesystem": "root", "path": "/opt/a", "mode": 493.0}, w.Storage.Directories[0])
	assert.Equal(t, map[string]any{"filesystem": "root", "path": "/opt/l", "target": "/opt/a"}, w.Storage.Links[0])
	assert.Equal(t, "text: é", w.file(t, "/opt/file"))
	assert.Equal(t, "GROUP=stable\nLOCKSMITHD_REBOOT_WINDOW_LENGTH=1h\nLOCKSMITHD_REBOOT_WINDOW_START=Thu 04:00\nREBOOT_STRATEGY=off\n", w.file(t, "/etc/flatcar/update.conf"))
	assert.Equal(t, map[string]any{"name": "core", "passwordHash": "$6$h", "sshAuthorizedKeys": []any{"key"}, "noCreateHome": true}, w.Passwd.Users[0])
	assert.Equal(t, "00-eth0.network", w.Networkd.Units[0]["name"])
	raw, _ := render(t, firstboot.Input{}, extra(containerLinux))
	assert.Contains(t, raw, `"verification":{"hash":"sha512-`+sum+`"}`)
	assert.Contains(t, raw, `"source":"https://example.org/x"`)
}

func TestButaneConfigMakesVersion3(t *testing.T) {
	_, w := render(t, full(), extra(flatcar))
	assert.Equal(t, "3.3.0", w.Ignition.Version)
	for _, u := range w.Systemd.Units {
		if u.Name == "kubeadm.service" {
			assert.Equal(t, "10.conf", u.Dropins[0].Name, "merged into the unit of ours")
			assert.NotEmpty(t, u.Contents)
		}
	}
	assert.Contains(t, w.unit(t, "var-lib-data.mount"), "What=/dev/disk/by-partlabel/one\nWhere=/var/lib/data\nType=ext4\nOptions=noatime\n")
	assert.Equal(t, "mine", w.file(t, "/etc/plain"), "the user's config overrides")
	raw, _ := render(t, full(), extra(flatcar))
	assert.Contains(t, raw, `"kernelArguments":{"shouldExist":["quiet"]}`)
}

func TestMistakesInAdditionalConfig(t *testing.T) {
	for name, row := range map[string]struct{ config, want string }{
		"no YAML":            {"a: [", "additionalConfig: "},
		"a list":             {"- a", "additionalConfig: "},
		"a key twice":        {"systemd: {}\nsystemd: {}", "already set"},
		"a wrong type":       {"systemd: {units: {a: b}}", "additionalConfig: "},
		"a bad unit name":    {"systemd: {units: [{name: x}]}", "invalid"},
		"no device":          {"storage: {disks: [{wipe_table: true}]}", "device"},
		"a relative path":    {"storage: {files: [{path: a}]}", "path"},
		"a size without":     {"storage: {disks: [{device: /dev/a, partitions: [{size: 5}]}]}", "with a unit"},
		"half a mebibyte":    {"storage: {disks: [{device: /dev/a, partitions: [{size: 5KiB}]}]}", "whole mebibytes"},
		"a local file":       {"storage: {files: [{path: /a, contents: {local: x}}]}", "no local files"},
		"etcd":               {"etcd: {version: 3}", "the section etcd is not available"},
		"an unknown service": {"locksmith: {etcd_endpoints: x}", "locksmith.etcdEndpoints is not available"},
		"two lines":          {"update: {group: \"a\\nB=c\"}", "must be one line"},
		"unknown Butane":     {"variant: openshift\nversion: 4.14.0", "use flatcar 1.0.0"},
		"Butane, no version": {"variant: flatcar", "use flatcar 1.0.0"},
		"Butane, local":      {butane + "storage: {trees: [{local: x}]}", "no local files"},
		"Butane, boot disk":  {butane + "boot_device: {}", "boot_device is not available"},
		"Butane, wrong":      {butane + "storage: {files: [{path: a}]}", "path not absolute"},
		"Butane, unit":       {butane + "storage: {filesystems: [{path: /a, device: \"/b\\nx\", format: ext4, with_mount_unit: true}]}", "no line breaks"},
	} {
		_, _, err := Render(firstboot.Input{}, extra(row.config))
		require.ErrorContains(t, err, row.want, name)
		assert.True(t, strings.HasPrefix(err.Error(), "additionalConfig: "), "%s: %v", name, err)
	}
}

func TestStrictMakesWarningsErrors(t *testing.T) {
	for _, config := range []string{"storage: {unknown: 1}", butane + "storage: {unknown: 1}", "storage: {filesystems: [{name: a, mount: {device: /a, format: ext4, create: {force: true}}}]}"} {
		spec := extra(config)
		_, warnings, err := Render(firstboot.Input{}, spec)
		require.NoError(t, err, config)
		assert.Len(t, warnings, 1, config)
		spec.ContainerLinuxConfig.Strict = ptr(true)
		_, _, err = Render(firstboot.Input{}, spec)
		require.ErrorContains(t, err, "strict", config)
	}
}

func FuzzAdditionalConfig(f *testing.F) {
	f.Add(containerLinux, false)
	f.Add(flatcar, true)
	for _, s := range []string{"", "a", "null", "a: &x [*x]", "storage: null", "storage: {files: [null]}", "storage: {disks: [{device: /a, partitions: [{size: 1e400GiB}]}]}", "variant: 1", "update: []", "systemd: {units: 1}", "? {a: b}\n: c", butane + "systemd: []"} {
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, config string, strict bool) {
		spec := extra(config)
		spec.ContainerLinuxConfig.Strict = &strict
		first, _, err := Render(firstboot.Input{}, spec)
		again, _, second := Render(firstboot.Input{}, spec)
		assert.Equal(t, string(first), string(again), "the same config makes the same document")
		assert.Equal(t, err == nil, second == nil)
	})
}
