package cloudinit

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/internal/firstboot"
)

var update = flag.Bool("update", false, "write the golden files anew")

func ptr[T any](v T) *T { return &v }

// parsed is the document as any reader of YAML sees it.
type parsed struct {
	WriteFiles []struct {
		Path, Encoding, Owner, Permissions, Content string
		Append                                      bool
	} `json:"write_files"`
	BootCmd []string                  `json:"bootcmd"`
	RunCmd  []string                  `json:"runcmd"`
	NTP     map[string]any            `json:"ntp"`
	Users   []map[string]any          `json:"users"`
	Disks   map[string]map[string]any `json:"disk_setup"`
	FS      []map[string]any          `json:"fs_setup"`
	Mounts  [][]string                `json:"mounts"`
}

func render(t testing.TB, in firstboot.Input) string {
	t.Helper()
	out, err := Render(in)
	require.NoError(t, err)
	return string(out)
}

func parse(t testing.TB, text string) parsed {
	t.Helper()
	var p parsed
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), &p), text)
	return p
}

// commands are the inputs of BC-12.
var commands = []string{
	`sed 's/{{ X }}/10.0.0.0\/8/' /a > /b`,
	`echo "a: b" # c`,
	"cat <<EOF\n\tline two\nEOF",
	`echo 'ünïcode' 'x'`,
	`- starts like a list`,
	``,
}

// Conformance: KB-81
func TestCommandsComeOutByteForByte(t *testing.T) {
	out := render(t, firstboot.Input{Verb: firstboot.Join, BootCommands: commands, PreCommands: commands, PostCommands: commands})
	assert.True(t, strings.HasPrefix(out, "#cloud-config\n"), "BC-12: nobody asked for templates, so the marker is absent")
	p := parse(t, out)
	assert.Equal(t, commands, p.BootCmd)
	kubeadm := "kubeadm join --config /run/kubeadm/kubeadm-join-config.yaml && echo success > /run/cluster-api/bootstrap-success.complete"
	assert.Equal(t, append(append(append([]string{}, commands...), kubeadm), commands...), p.RunCmd)
}

// Conformance: KB-73
func TestCommandsAndFilesOfKubeadm(t *testing.T) {
	p := parse(t, render(t, firstboot.Input{Verb: firstboot.Init, Kubeadm: "kind: X\n", Verbosity: ptr(int32(0)),
		Certificates: []bootstrapv1.File{{Path: "/a", Content: "cert"}}, Files: []bootstrapv1.File{{Path: "/a", Content: "mine", Append: ptr(true), Encoding: "base64", Permissions: "0600", Owner: "u:g"}}}))
	assert.Equal(t, []string{"kubeadm init --config /run/kubeadm/kubeadm.yaml --v 0 && echo success > /run/cluster-api/bootstrap-success.complete"}, p.RunCmd)
	var paths []string
	for _, f := range p.WriteFiles {
		paths = append(paths, f.Path)
	}
	assert.Equal(t, []string{"/a", "/a", "/run/kubeadm/kubeadm.yaml", "/run/cluster-api/placeholder"}, paths, "a user's file wins over a certificate, not over kubeadm's")
	assert.Equal(t, "cert", p.WriteFiles[0].Content)
	mine := p.WriteFiles[1]
	assert.Equal(t, []any{"mine", true, "base64", "0600", "u:g"}, []any{mine.Content, mine.Append, mine.Encoding, mine.Permissions, mine.Owner})
	assert.Equal(t, "kind: X\n", p.WriteFiles[2].Content)
	assert.Equal(t, "0640", p.WriteFiles[2].Permissions)
}

// Conformance: KB-80
func TestFalseIsNotAbsent(t *testing.T) {
	p := parse(t, render(t, firstboot.Input{NTP: bootstrapv1.NTP{Enabled: ptr(false)}, Users: []bootstrapv1.User{{Name: "a", LockPassword: ptr(false), Inactive: ptr(false)}, {Name: "b"}},
		Disks: bootstrapv1.DiskSetup{Partitions: []bootstrapv1.Partition{{Device: "/dev/a", Layout: ptr(false), Overwrite: ptr(false)}}}}))
	assert.Equal(t, map[string]any{"enabled": false}, p.NTP)
	assert.Equal(t, []map[string]any{{"name": "a", "lock_passwd": false, "inactive": false}, {"name": "b"}}, p.Users)
	assert.Equal(t, map[string]map[string]any{"/dev/a": {"layout": false, "overwrite": false}}, p.Disks)
}

// Conformance: KB-80
func TestEmptyListsAreAbsent(t *testing.T) {
	assert.Equal(t, render(t, firstboot.Input{Verb: firstboot.Join}), render(t, firstboot.Input{Verb: firstboot.Join, Files: []bootstrapv1.File{}, Users: []bootstrapv1.User{}, BootCommands: []string{}, Mounts: [][]string{},
		NTP: bootstrapv1.NTP{Servers: []string{}}, Disks: bootstrapv1.DiskSetup{Partitions: []bootstrapv1.Partition{}, Filesystems: []bootstrapv1.Filesystem{}}}))
}

func TestPartitionTypes(t *testing.T) {
	var layout []bootstrapv1.PartitionDiskLayout
	for _, name := range []string{"Linux", "LinuxSwap", "LinuxRAID", "LVM", "Fat32", "NTFS", "LinuxExtended", "4F68BCE3-E8CD-4DB1-96E7-FBCAF984B709", ""} {
		layout = append(layout, bootstrapv1.PartitionDiskLayout{Percentage: 10, PartitionType: name})
	}
	p := parse(t, render(t, firstboot.Input{Disks: bootstrapv1.DiskSetup{Partitions: []bootstrapv1.Partition{{Device: "d", TableType: "gpt", DiskLayout: layout}, {Device: "e", Layout: ptr(true)}}}}))
	pair := func(code any) []any { return []any{10.0, code} }
	assert.Equal(t, []any{pair(83.0), pair(82.0), pair("fd"), pair("8e"), pair("0c"), pair("07"), pair(85.0), pair("4F68BCE3-E8CD-4DB1-96E7-FBCAF984B709"), 10.0}, p.Disks["d"]["layout"])
	assert.Equal(t, true, p.Disks["e"]["layout"])
}

// full uses every part of a document.
func full(verb firstboot.Verb) firstboot.Input {
	in := firstboot.Input{
		Verb: verb, Kubeadm: "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\nnodeRegistration:\n  name: '{{ ds.meta_data.local_hostname }}'\n",
		Files: []bootstrapv1.File{
			{Path: "/etc/plain", Content: "one\ntwo\n", Owner: "root:root", Permissions: "0644"},
			{Path: "/etc/packed", Content: "H4sIAAAAAAAAA0vOzy9KUeACAJCRhzcHAAAA", Encoding: bootstrapv1.GzipBase64},
			{Path: "/etc/more", Content: "# {# kept #}\n", Append: ptr(true)},
			{Path: "/etc/helm", Content: "host: {{ .Values.host }}\nopen: {{\nend\n"},
		},
		Users: []bootstrapv1.User{{Name: "admin", Gecos: "An Admin: #1", Groups: "sudo, wheel", HomeDir: "/home/admin", LockPassword: ptr(false), Passwd: "$6$hash",
			PrimaryGroup: "admin", Shell: "/bin/bash", Sudo: "ALL=(ALL) NOPASSWD:ALL", SSHAuthorizedKeys: []string{"ssh-ed25519 AAAA admin@example"}}},
		BootCommands: []string{"echo boot"}, PreCommands: commands[:5], PostCommands: []string{"echo '{{ v1.local_hostname }}' done"},
		NTP:    bootstrapv1.NTP{Enabled: ptr(true), Servers: []string{"0.pool.ntp.org"}},
		Mounts: [][]string{{"LABEL=etcd", "/var/lib/etcd", "ext4", "defaults,noatime", "0", "2"}},
		Disks: bootstrapv1.DiskSetup{
			Partitions: []bootstrapv1.Partition{{Device: "/dev/sdb", Layout: ptr(true), Overwrite: ptr(false), TableType: "gpt"},
				{Device: "/dev/sdc", TableType: "mbr", DiskLayout: []bootstrapv1.PartitionDiskLayout{{Percentage: 40, PartitionType: "Linux"}, {Percentage: 60}}}},
			Filesystems: []bootstrapv1.Filesystem{{Device: "/dev/sdb1", Filesystem: "ext4", Label: "etcd", Overwrite: ptr(false), Partition: "auto", ReplaceFS: "ntfs", ExtraOpts: []string{"-E", "lazy_itable_init=1"}}},
		},
		Verbosity: ptr(int32(5)),
	}
	if verb == firstboot.Init {
		in.Certificates = []bootstrapv1.File{{Path: "/etc/kubernetes/pki/ca.crt", Owner: "root:root", Permissions: "0640", Content: "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n"}}
	}
	return in
}

func plain(verb firstboot.Verb) firstboot.Input {
	in := full(verb)
	in.Kubeadm, in.PostCommands = "kind: ClusterConfiguration\n---\nkind: InitConfiguration\n", []string{"echo done"}
	return in
}

var goldens = map[string]firstboot.Input{"init": plain(firstboot.Init), "join": plain(firstboot.Join), "join-template": full(firstboot.Join)}

func TestGolden(t *testing.T) {
	for name, in := range goldens {
		path, got := filepath.Join("testdata", name+".yaml"), render(t, in)
		if *update {
			require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, string(want), got, "run the test with -update if the change is wanted")
	}
}

// cloudInit finds the real program. Where CI promises that it is there (SLIPWAY_REQUIRE_CLOUD_INIT), its absence is a failure.
func cloudInit(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("cloud-init")
	if err != nil {
		require.Empty(t, os.Getenv("SLIPWAY_REQUIRE_CLOUD_INIT"), "cloud-init is not in PATH: apt-get install cloud-init")
		t.Skip("cloud-init is not installed; SLIPWAY_REQUIRE_CLOUD_INIT=1 makes this a failure")
	}
	return path
}

// Conformance: KB-81
func TestCloudInitAcceptsTheDocuments(t *testing.T) {
	program := cloudInit(t)
	for name, in := range goldens {
		if name == "join-template" {
			continue // judged after rendering, below
		}
		accepted(t, program, render(t, in))
	}
}

func accepted(t *testing.T, program, document string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "user-data")
	require.NoError(t, os.WriteFile(path, []byte(document), 0o600))
	out, err := exec.Command(program, "schema", "-c", path).CombinedOutput()
	require.NoError(t, err, "%s\n%s", out, document)
}

// rendered is the document after cloud-init has filled in its templates.
func rendered(t *testing.T, program, document string) string {
	t.Helper()
	dir := t.TempDir()
	instance, err := json.Marshal(map[string]any{"ds": map[string]any{"meta_data": map[string]any{"local_hostname": "node-1"}}, "v1": map[string]any{"local_hostname": "node-1"}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "instance-data.json"), instance, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "user-data"), []byte(document), 0o600))
	out, err := exec.Command(program, "devel", "render", "-i", filepath.Join(dir, "instance-data.json"), filepath.Join(dir, "user-data")).Output()
	require.NoError(t, err, document)
	return string(out)
}

func TestCloudInitFillsOnlyWhatWasAskedFor(t *testing.T) {
	program := cloudInit(t)
	in := full(firstboot.Join)
	document := rendered(t, program, render(t, in))
	accepted(t, program, document)
	p := parse(t, document)
	for i, f := range in.Files {
		assert.Equal(t, f.Content, p.WriteFiles[i].Content)
	}
	assert.Contains(t, p.WriteFiles[len(in.Files)].Content, "name: 'node-1'")
	assert.Equal(t, in.PreCommands, p.RunCmd[:5])
	assert.Equal(t, "echo 'node-1' done", p.RunCmd[6])
	assert.Equal(t, in.Mounts, p.Mounts)
}

// TestCloudInitKeepsRandomTexts gives the real template engine and the real parser of cloud-init many texts at once.
//
// Conformance: KB-81
func TestCloudInitKeepsRandomTexts(t *testing.T) {
	program := cloudInit(t)
	random := rand.New(rand.NewPCG(1, 2))
	in := firstboot.Input{Verb: firstboot.Join, PostCommands: []string{"{{ ds.meta_data.local_hostname }}"}}
	for range 400 {
		in.PreCommands = append(in.PreCommands, randomText(random))
		in.Files = append(in.Files, bootstrapv1.File{Path: "/f", Content: randomText(random)})
	}
	p := parse(t, rendered(t, program, render(t, in)))
	assert.Equal(t, in.PreCommands, p.RunCmd[:len(in.PreCommands)])
	for i, f := range in.Files {
		assert.Equal(t, f.Content, p.WriteFiles[i].Content)
	}
	assert.Equal(t, "node-1", p.RunCmd[len(p.RunCmd)-1])
}

var pieces = []string{"{{", "}}", "{%", "%}", "{#", "#}", "{", "}", "%", "#", "-", "+", " ", " ", "\n", "\n", "\t", "'", `"`, `\`, ":", ": ", " #", "|", ">", "&a", "*a", "!x", "ü", "é\n",
	"x", "yes", "0640", "1:30", "<<", "=", "~", "null", "endraw", "{% endraw %}", "{% raw %}", "{{ X }}", "{{- .y -}}", "---", "...", "ds.", "\u00a0", "😀"}

func randomText(r *rand.Rand) string {
	var out strings.Builder
	for range r.IntN(8) {
		out.WriteString(pieces[r.IntN(len(pieces))])
	}
	return out.String()
}

// Conformance: KB-81
func FuzzRender(f *testing.F) {
	for _, c := range commands {
		f.Add(c, c)
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		f.Add(randomText(random), randomText(random))
	}
	f.Add("{{ ds.meta_data.x }}", " {{ ds.x }}\n{% raw %}")
	f.Fuzz(func(t *testing.T, command, content string) {
		command, content = strings.ToValidUTF8(command, "?"), strings.ToValidUTF8(content, "?")
		in := firstboot.Input{Verb: firstboot.Init, Kubeadm: content, PreCommands: []string{command}, BootCommands: []string{content}, Users: []bootstrapv1.User{{Name: command, Gecos: content}},
			Files: []bootstrapv1.File{{Path: command, Content: content}}, Mounts: [][]string{{command, content}}}
		document := render(t, in)
		p := parse(t, strings.TrimPrefix(document, templateMarker))
		keep := func(s string) string { return s }
		if strings.HasPrefix(document, templateMarker) {
			keep = protect
		}
		assert.Equal(t, []string{keep(content)}, p.BootCmd)
		assert.Equal(t, keep(command), p.RunCmd[0])
		assert.Equal(t, [][]string{{keep(command), keep(content)}}, p.Mounts)
		assert.Equal(t, keep(content), p.WriteFiles[0].Content)
		assert.Equal(t, keep(content), p.WriteFiles[1].Content)
		var other map[string]any
		require.NoError(t, yamlv3.Unmarshal([]byte(document), &other), "another parser reads it too")
		assert.Equal(t, []any{keep(content)}, other["bootcmd"])
	})
}

func TestProtect(t *testing.T) {
	for text, want := range map[string]string{
		"echo":                                   "echo",
		"{{ ds.meta_data.x }} {{ y }}":           "{{ ds.meta_data.x }} {% raw %}{{{% endraw %} y }}",
		"{{":                                     "{% raw %}{{{% endraw +%}",
		"{%\n":                                   "{% raw %}{%{% endraw +%}\n",
		"{{{ x":                                  "{% raw %}{{{% endraw %}{ x",
		"{% endraw %}":                           "{% raw %}{%{% endraw %} endraw %}",
		`{% if ds.x == "a" %}{{ y }}{% endif %}`: `{% if ds.x == "a" %}{{ y }}{% endif %}`,
		"{{ds['a'].b}}":                          "{{ds['a'].b}}",
		"{{ ds.open":                             "{% raw %}{{{% endraw %} ds.open",
	} {
		assert.Equal(t, want, protect(text))
	}
}

// Conformance: KB-73
func TestBinaryContentOfSecrets(t *testing.T) {
	packed := "\x1f\x8b\xff\x00"
	var d map[string][]map[string]any
	out := render(t, firstboot.Input{Files: []bootstrapv1.File{{Path: "/a", Content: packed, Encoding: bootstrapv1.Gzip}}})
	require.NoError(t, yamlv3.Unmarshal([]byte(out[:strings.Index(out, "runcmd")]), &d))
	assert.Equal(t, packed, d["write_files"][0]["content"])
}
