package ignition

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vincent-petithory/dataurl"

	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/internal/firstboot"
)

var update = flag.Bool("update", false, "write the golden files anew")

func ptr[T any](v T) *T { return &v }

const butane = "variant: flatcar\nversion: 1.0.0\n"

func extra(config string) bootstrapv1.IgnitionSpec {
	return bootstrapv1.IgnitionSpec{ContainerLinuxConfig: bootstrapv1.IgnitionContainerLinuxConfig{AdditionalConfig: config}}
}

// written is a document as the machine reads it.
type written struct {
	Ignition struct{ Version string }
	Passwd   struct{ Users []map[string]any }
	Networkd struct{ Units []map[string]any }
	Storage  struct {
		Files []struct {
			Path, Filesystem string
			Mode             int
			User, Group      struct {
				Name string
				ID   *int
			}
			Contents struct{ Source, Compression string }
			Append   any
		}
		Disks, Filesystems, Raid, Directories, Links []map[string]any
	}
	Systemd struct {
		Units []struct {
			Name, Contents string
			Enabled, Mask  *bool
			Dropins        []struct{ Name, Contents string }
		}
	}
}

func render(t testing.TB, in firstboot.Input, spec bootstrapv1.IgnitionSpec) (string, written) {
	t.Helper()
	out, _, err := Render(in, spec)
	require.NoError(t, err)
	var w written
	require.NoError(t, json.Unmarshal(out, &w))
	return string(out), w
}

// content is what a source of a file holds.
func content(t testing.TB, source string) string {
	t.Helper()
	u, err := dataurl.DecodeString(source)
	require.NoError(t, err)
	return string(u.Data)
}

// file is the last file of a path, with its contents.
func (w written) file(t testing.TB, path string) string {
	t.Helper()
	for i := len(w.Storage.Files) - 1; i >= 0; i-- {
		if w.Storage.Files[i].Path == path {
			return content(t, w.Storage.Files[i].Contents.Source)
		}
	}
	t.Fatalf("no file %s", path)
	return ""
}

func (w written) unit(t testing.TB, name string) string {
	t.Helper()
	for _, u := range w.Systemd.Units {
		if u.Name == name {
			return u.Contents
		}
	}
	t.Fatalf("no unit %s", name)
	return ""
}

// full uses every part of a document.
func full() firstboot.Input {
	return firstboot.Input{
		Verb: firstboot.Init, Kubeadm: "kind: ClusterConfiguration\n---\nkind: InitConfiguration\n", Verbosity: ptr(int32(4)),
		Certificates: []bootstrapv1.File{{Path: "/etc/kubernetes/pki/ca.crt", Owner: "root:root", Permissions: "0640", Content: "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n"}},
		Files: []bootstrapv1.File{
			{Path: "/etc/plain", Content: "  leading blanks\n\ttab ünï\n", Owner: "core:", Permissions: "0600"},
			{Path: "/etc/encoded", Content: "aGVs\nbG8=", Encoding: bootstrapv1.Base64, Owner: ":wheel"},
			{Path: "/etc/more", Content: "one\n", Append: ptr(true)},
		},
		Users: []bootstrapv1.User{
			{Name: "admin", Gecos: "An Admin", Groups: "sudo, docker", HomeDir: "/home/a", Shell: "/bin/bash", PrimaryGroup: "staff", Passwd: "$6$hash", LockPassword: ptr(false),
				Sudo: "ALL=(ALL) NOPASSWD:ALL", SSHAuthorizedKeys: []string{"ssh-ed25519 AAAA a@b"}},
			{Name: "other", LockPassword: ptr(false)}, {Name: "locked", Passwd: "$6$x", LockPassword: ptr(true)}, {Name: "plain"},
		},
		PreCommands: []string{"echo 'pre' $(date)", "cat <<EOF\nx\nEOF"}, PostCommands: []string{"echo post"},
		NTP: bootstrapv1.NTP{Enabled: ptr(true), Servers: []string{"0.pool.ntp.org", "1.pool.ntp.org"}},
		Disks: bootstrapv1.DiskSetup{
			Partitions: []bootstrapv1.Partition{{Device: "/dev/sdb", Layout: ptr(true), Overwrite: ptr(true), TableType: "gpt"}, {Device: "/dev/sdc", Layout: ptr(false)},
				{Device: "/dev/sdd", DiskLayout: []bootstrapv1.PartitionDiskLayout{{Percentage: 100, PartitionType: "LVM"}}}},
			Filesystems: []bootstrapv1.Filesystem{{Device: "/dev/sdb1", Filesystem: "ext4", Label: "data", Overwrite: ptr(false), ExtraOpts: []string{"-E", "lazy_itable_init=1"}},
				{Device: "/dev/sde", Filesystem: "xfs", Label: "more"}},
		},
		Mounts: [][]string{{"data", "/mnt/data-disk", "defaults", "noatime"}, {"LABEL=more", "/var/lib/more", "xfs", "nofail", "0", "2"}},
	}
}

const containerLinux = `
systemd:
  units:
  - name: kubeadm.service
    dropins:
    - name: 10-flatcar.conf
      contents: |
        [Unit]
        After=coreos-metadata.service
  - name: locksmithd.service
    mask: true
storage:
  disks:
  - device: /dev/sdf
    wipe_table: true
    partitions:
    - {label: one, number: 1, size: 4GiB, start: 1MiB, type_guid: raid_partition}
    - {label: two, number: 2, size: 2048KiB}
  raid:
  - {name: array, level: raid1, devices: [/dev/sdf1, /dev/sdg1], spares: 1}
  filesystems:
  - {name: array, mount: {device: /dev/md/array, format: ext4, wipe_filesystem: true, label: array}}
  directories:
  - {path: /opt/a}
  links:
  - {path: /opt/l, target: /opt/a}
  files:
  - {path: /opt/file, mode: 0600, contents: {inline: "text: é"}, user: {id: 500}}
  - path: /opt/fetched
    contents:
      remote: {url: "https://example.org/x", compression: gzip, verification: {hash: {function: sha512, sum: ` + sumText + `}}}
passwd:
  users:
  - {name: core, password_hash: "$6$h", ssh_authorized_keys: [key], no_create_home: true}
  groups:
  - {name: more, gid: 999}
networkd:
  units:
  - {name: 00-eth0.network, contents: "[Match]"}
update: {group: stable}
locksmith: {reboot_strategy: off, window_start: "Thu 04:00", window_length: 1h}
`

const sum = sumText

const flatcar = butane + `
kernel_arguments:
  should_exist: [quiet]
systemd:
  units:
  - name: kubeadm.service
    dropins:
    - {name: 10.conf, contents: "[Unit]\nAfter=x.service\n"}
storage:
  disks:
  - device: /dev/sdf
    partitions:
    - {label: one, number: 1, size_mib: 4096, start_mib: 1}
  filesystems:
  - {path: /var/lib/data, device: /dev/disk/by-partlabel/one, format: ext4, label: one, wipe_filesystem: true, with_mount_unit: true, mount_options: [noatime]}
  files:
  - {path: /etc/plain, mode: 0644, overwrite: true, contents: {inline: mine}}
  - {path: /opt/fetched, contents: {source: "https://example.org/x", http_headers: [{name: a, value: b}], verification: {hash: sha512-` + sumText + `}}}
passwd:
  users:
  - {name: core, password_hash: "$6$h", ssh_authorized_keys: [key]}
`

const sumText = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

type golden struct {
	in   firstboot.Input
	spec bootstrapv1.IgnitionSpec
}

func join(in firstboot.Input) firstboot.Input {
	in.Verb, in.Kubeadm, in.Certificates = firstboot.Join, "kind: JoinConfiguration\n", nil
	return in
}

var goldens = map[string]golden{
	"v2-init": {full(), extra(containerLinux)}, "v2-join": {join(full()), bootstrapv1.IgnitionSpec{}}, "v2-empty": {firstboot.Input{Verb: firstboot.Join}, bootstrapv1.IgnitionSpec{}},
	"v3-init": {full(), extra(flatcar)}, "v3-join": {join(full()), extra(butane)}, "v3-empty": {firstboot.Input{Verb: firstboot.Join}, extra(butane)},
}

func TestGolden(t *testing.T) {
	for name, g := range goldens {
		raw, _ := render(t, g.in, g.spec)
		var pretty any
		require.NoError(t, json.Unmarshal([]byte(raw), &pretty))
		indented, err := json.MarshalIndent(pretty, "", " ")
		require.NoError(t, err)
		path, got := filepath.Join("testdata", name+".json"), string(indented)+"\n"
		if *update {
			require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, string(want), got, "%s: run the test with -update if the change is wanted", name)
	}
}

// ignitionValidate finds the real program. Where CI promises that it is there (SLIPWAY_REQUIRE_IGNITION), its absence is a failure.
func ignitionValidate(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("ignition-validate")
	if err != nil {
		require.Empty(t, os.Getenv("SLIPWAY_REQUIRE_IGNITION"), "ignition-validate is not in PATH: apt-get install ignition")
		t.Skip("ignition-validate is not installed; SLIPWAY_REQUIRE_IGNITION=1 makes this a failure")
	}
	return path
}

// TestIgnitionAcceptsTheDocuments: the program of Debian reads version 3. Version 2 is judged by its own types before it goes out.
func TestIgnitionAcceptsTheDocuments(t *testing.T) {
	program := ignitionValidate(t)
	for name, g := range goldens {
		if !strings.HasPrefix(name, "v3") {
			continue
		}
		raw, _ := render(t, g.in, g.spec)
		path := filepath.Join(t.TempDir(), "config.ign")
		require.NoError(t, os.WriteFile(path, []byte(raw), 0o600))
		out, err := exec.Command(program, path).CombinedOutput()
		require.NoError(t, err, "%s: %s\n%s", name, out, raw)
		assert.Empty(t, string(out), "%s: no warnings", name)
	}
}

// bothVersions runs a test for a document of each version.
func bothVersions(t *testing.T, in firstboot.Input, check func(*testing.T, written)) {
	t.Helper()
	for version, spec := range map[string]bootstrapv1.IgnitionSpec{"2.3.0": {}, "3.3.0": extra(butane)} {
		t.Run(version, func(t *testing.T) {
			_, w := render(t, in, spec)
			assert.Equal(t, version, w.Ignition.Version)
			check(t, w)
		})
	}
}

func TestKubeadmRunsOnceItSucceeds(t *testing.T) {
	in := full()
	in.Files = append(in.Files, bootstrapv1.File{Path: "/etc//kubeadm.yml", Content: "a user's"}, bootstrapv1.File{Path: "/etc/kubeadm.sh", Content: "more", Append: ptr(true)})
	bothVersions(t, in, func(t *testing.T, w written) {
		assert.Equal(t, "#!/bin/bash\nset -e\necho 'pre' $(date)\ncat <<EOF\nx\nEOF\nkubeadm init --config /etc/kubeadm.yml --v 4\nmkdir -p /run/cluster-api\n"+
			"echo success > /run/cluster-api/bootstrap-success.complete\nmv /etc/kubeadm.yml /tmp/\necho post\n", w.file(t, "/etc/kubeadm.sh"))
		assert.Equal(t, in.Kubeadm, w.file(t, "/etc/kubeadm.yml"), "no file of a user stands in for kubeadm's document")
		modes := map[string]int{}
		for _, f := range w.Storage.Files {
			modes[f.Path] = f.Mode
		}
		assert.Equal(t, []int{0o700, 0o600}, []int{modes["/etc/kubeadm.sh"], modes["/etc/kubeadm.yml"]})
		unit := w.unit(t, "kubeadm.service")
		for _, line := range []string{"ConditionPathExists=/etc/kubeadm.yml", "After=network.target", "Type=oneshot", "ExecStart=/bin/bash /etc/kubeadm.sh", "WantedBy=multi-user.target"} {
			assert.Contains(t, unit, line+"\n")
		}
	})
	_, w := render(t, join(full()), bootstrapv1.IgnitionSpec{})
	assert.Contains(t, w.file(t, "/etc/kubeadm.sh"), "\nkubeadm join --config /etc/kubeadm.yml --v 4\n")
}

func TestFilesOwnersAndModes(t *testing.T) {
	in := firstboot.Input{}
	for _, owner := range []string{"", "u", "u:", "u:g", ":g", "1000:1001"} {
		in.Files = append(in.Files, bootstrapv1.File{Path: "/" + strings.ReplaceAll(owner, ":", "-"), Owner: owner, Permissions: "0750"})
	}
	in.Files[0] = bootstrapv1.File{Path: "/plain"}
	bothVersions(t, in, func(t *testing.T, w written) {
		var got []string
		for _, f := range w.Storage.Files[:6] {
			got = append(got, f.User.Name+":"+f.Group.Name)
		}
		assert.Equal(t, []string{":", "u:", "u:", "u:g", ":g", ":"}, got)
		assert.Equal(t, []int{1000, 1001}, []int{*w.Storage.Files[5].User.ID, *w.Storage.Files[5].Group.ID})
		assert.Equal(t, []int{0o644, 0o750}, []int{w.Storage.Files[0].Mode, w.Storage.Files[1].Mode})
	})
}

func TestContentsAreDecodedAndAppended(t *testing.T) {
	in := full()
	in.Files = append(in.Files, bootstrapv1.File{Path: "/etc/kubernetes/pki/ca.crt", Content: "mine"}, bootstrapv1.File{Path: "/etc/plain", Content: "end", Append: ptr(true)})
	_, w := render(t, in, bootstrapv1.IgnitionSpec{})
	assert.Equal(t, "hello", w.file(t, "/etc/encoded"))
	assert.Equal(t, "mine", w.file(t, "/etc/kubernetes/pki/ca.crt"), "a user's file wins over a certificate")
	var plain []string
	for _, f := range w.Storage.Files {
		if f.Path == "/etc/plain" {
			plain = append(plain, content(t, f.Contents.Source))
			assert.Equal(t, len(plain) == 2, f.Append == true)
		}
	}
	assert.Equal(t, []string{"  leading blanks\n\ttab ünï\n", "end"}, plain)

	_, w = render(t, in, extra(butane))
	seen := map[string]int{}
	for _, f := range w.Storage.Files {
		seen[f.Path]++
		if more, ok := f.Append.([]any); ok {
			assert.Contains(t, []string{"/etc/plain", "/etc/more"}, f.Path)
			assert.Len(t, more, 1)
		}
	}
	for path, n := range seen {
		assert.Equal(t, 1, n, "%s: version 3 takes each path once", path)
	}
}

func TestUsers(t *testing.T) {
	in := full()
	in.Users = append(in.Users, bootstrapv1.User{Name: "a.b", Sudo: "ALL=(ALL) ALL"})
	bothVersions(t, in, func(t *testing.T, w written) {
		assert.Equal(t, map[string]any{"name": "admin", "gecos": "An Admin", "homeDir": "/home/a", "shell": "/bin/bash", "primaryGroup": "staff", "passwordHash": "$6$hash",
			"groups": []any{"sudo", "docker"}, "sshAuthorizedKeys": []any{"ssh-ed25519 AAAA a@b"}}, w.Passwd.Users[0])
		assert.Equal(t, "!$6$x", w.Passwd.Users[2]["passwordHash"], "lockPassword: true locks")
		assert.Equal(t, map[string]any{"name": "plain"}, w.Passwd.Users[3])
		assert.Equal(t, "admin ALL=(ALL) NOPASSWD:ALL\n", w.file(t, "/etc/sudoers.d/admin"))
		assert.Equal(t, "a.b ALL=(ALL) ALL\n", w.file(t, "/etc/sudoers.d/a_b"), "sudo ignores files with dots")
		assert.True(t, strings.HasSuffix(w.file(t, "/etc/ssh/sshd_config"), "PasswordAuthentication no\nMatch User admin,other\n  PasswordAuthentication yes\n"))
	})
}

func TestTimeServers(t *testing.T) {
	for name, row := range map[string]struct {
		ntp     bootstrapv1.NTP
		enabled *bool
		file    bool
	}{
		"nothing said":      {bootstrapv1.NTP{}, nil, false},
		"on":                {bootstrapv1.NTP{Enabled: ptr(true)}, ptr(true), false},
		"off is not on":     {bootstrapv1.NTP{Enabled: ptr(false), Servers: []string{"a"}}, ptr(false), false},
		"servers, no order": {bootstrapv1.NTP{Servers: []string{"a", "b"}}, ptr(true), true},
	} {
		_, w := render(t, firstboot.Input{NTP: row.ntp}, bootstrapv1.IgnitionSpec{})
		var enabled *bool
		for _, u := range w.Systemd.Units {
			if u.Name == "ntpd.service" {
				enabled = u.Enabled
			}
		}
		assert.Equal(t, row.enabled, enabled, name)
		raw, _ := json.Marshal(w)
		assert.Equal(t, row.file, strings.Contains(string(raw), "/etc/ntp.conf"), name)
		if row.file {
			assert.Contains(t, w.file(t, "/etc/ntp.conf"), "server a\nserver b\n")
		}
	}
}

func TestDisksAndMounts(t *testing.T) {
	bothVersions(t, full(), func(t *testing.T, w written) {
		disks := map[string]map[string]any{}
		for _, d := range w.Storage.Disks {
			disks[d["device"].(string)] = d
		}
		assert.Equal(t, true, disks["/dev/sdb"]["wipeTable"])
		assert.Equal(t, []any{map[string]any{"number": 1.0}}, disks["/dev/sdb"]["partitions"])
		assert.NotContains(t, disks["/dev/sdc"], "partitions", "layout: false makes none")
		assert.Equal(t, []any{map[string]any{"number": 1.0, "typeGuid": partitionKinds["LVM"]}}, disks["/dev/sdd"]["partitions"])
		unit := w.unit(t, `mnt-data\x2ddisk.mount`)
		for _, line := range []string{"What=/dev/sdb1", "Where=/mnt/data-disk", "Type=ext4", "Options=defaults,noatime", `After=systemd-fsck@dev-sdb1.service`, "RequiredBy=local-fs.target"} {
			assert.Contains(t, unit, line+"\n")
		}
		assert.Contains(t, w.unit(t, "var-lib-more.mount"), "Type=xfs\nOptions=nofail\n", "a line of fstab is understood too")
	})
	_, w := render(t, full(), bootstrapv1.IgnitionSpec{})
	assert.Equal(t, map[string]any{"name": "data", "mount": map[string]any{"device": "/dev/sdb1", "format": "ext4", "label": "data", "options": []any{"-E", "lazy_itable_init=1"}}}, w.Storage.Filesystems[0])
	_, w = render(t, full(), extra(butane))
	assert.Equal(t, map[string]any{"device": "/dev/sde", "format": "xfs", "label": "more", "wipeFilesystem": false}, w.Storage.Filesystems[1], "overwrite unset is false")
}

func TestMistakes(t *testing.T) {
	disk := func(p bootstrapv1.Partition) firstboot.Input {
		return firstboot.Input{Disks: bootstrapv1.DiskSetup{Partitions: []bootstrapv1.Partition{p}}}
	}
	mount := func(m ...string) firstboot.Input {
		return firstboot.Input{Mounts: [][]string{m}, Disks: bootstrapv1.DiskSetup{Filesystems: []bootstrapv1.Filesystem{{Device: "/dev/a", Filesystem: "ext4", Label: "x"}}}}
	}
	for name, row := range map[string]struct {
		in   firstboot.Input
		want string
	}{
		"mount of one element":    {mount("x"), "needs the label of a filesystem and a mount point"},
		"mount of nothing":        {mount(), "needs the label"},
		"mount without label":     {mount("/dev/a", "/b"), "no filesystem of diskSetup has the label"},
		"relative mount point":    {mount("x", "b"), "absolute path"},
		"two lines in an option":  {mount("x", "/b", "a\nExecStart=/x"), "no line breaks"},
		"shares of a disk":        {disk(bootstrapv1.Partition{Device: "/d", DiskLayout: []bootstrapv1.PartitionDiskLayout{{Percentage: 50}, {Percentage: 50}}}), "storage.disks of additionalConfig"},
		"half a disk":             {disk(bootstrapv1.Partition{Device: "/d", DiskLayout: []bootstrapv1.PartitionDiskLayout{{Percentage: 50}}}), "100 percent"},
		"extended":                {disk(bootstrapv1.Partition{Device: "/d", DiskLayout: []bootstrapv1.PartitionDiskLayout{{Percentage: 100, PartitionType: "LinuxExtended"}}}), "no extended partitions"},
		"no base64":               {firstboot.Input{Files: []bootstrapv1.File{{Path: "/a", Content: "%", Encoding: "base64"}}}, "file /a: the content is not base64"},
		"packed":                  {firstboot.Input{Files: []bootstrapv1.File{{Path: "/a", Encoding: "gzip"}}}, "encoding gzip is not available"},
		"relative path":           {firstboot.Input{Files: []bootstrapv1.File{{Path: "a"}}}, "must be absolute"},
		"permissions":             {firstboot.Input{Files: []bootstrapv1.File{{Path: "/a", Permissions: "rw"}}}, "must be an octal number"},
		"user with a line break":  {firstboot.Input{Users: []bootstrapv1.User{{Name: "a\nb"}}}, "a name has letters"},
		"sudo of two lines":       {firstboot.Input{Users: []bootstrapv1.User{{Name: "a", Sudo: "x\ny"}}}, "one line"},
		"two words as a server":   {firstboot.Input{NTP: bootstrapv1.NTP{Servers: []string{"a b"}}}, "must be a host name"},
		"a format without a tool": {firstboot.Input{Disks: bootstrapv1.DiskSetup{Filesystems: []bootstrapv1.Filesystem{{Device: "/dev/a", Filesystem: "ntfs", Label: "x"}}}}, "invalid filesystem format"},
	} {
		for _, spec := range []bootstrapv1.IgnitionSpec{{}, extra(butane)} {
			_, _, err := Render(row.in, spec)
			require.ErrorContains(t, err, row.want, name)
		}
	}
}

func FuzzRender(f *testing.F) {
	for _, s := range []string{"", "x", "  leading\n", "'\"$(x)`", "%", "é\x00\xff", "a,b", "/a/../b", "LABEL=x", "0", "\\x2d", "{{ x }}", "#", "=", "data:,x"} {
		f.Add(s, s, true)
		f.Add(s, "/etc/"+s, false)
	}
	f.Fuzz(func(t *testing.T, text, path string, two bool) {
		spec := extra(butane)
		if two {
			spec = bootstrapv1.IgnitionSpec{}
		}
		in := firstboot.Input{Kubeadm: text, Files: []bootstrapv1.File{{Path: "/f", Content: text}}, PreCommands: []string{text}}
		_, w := render(t, in, spec)
		assert.Equal(t, text, w.file(t, "/f"))
		assert.Equal(t, text, w.file(t, "/etc/kubeadm.yml"))
		assert.True(t, strings.HasPrefix(w.file(t, "/etc/kubeadm.sh"), "#!/bin/bash\nset -e\n"+text+"\nkubeadm "))

		// Whatever else a user writes is either refused or read by Ignition itself.
		in = firstboot.Input{Users: []bootstrapv1.User{{Name: text, Sudo: path, Groups: text}}, NTP: bootstrapv1.NTP{Servers: []string{text}}, Files: []bootstrapv1.File{{Path: path, Owner: text, Permissions: text}},
			Mounts: [][]string{{text, path, text}}, Disks: bootstrapv1.DiskSetup{Filesystems: []bootstrapv1.Filesystem{{Device: path, Filesystem: "ext4", Label: text}}}}
		if out, _, err := Render(in, spec); err == nil {
			assert.True(t, json.Valid(out))
		}
	})
}
