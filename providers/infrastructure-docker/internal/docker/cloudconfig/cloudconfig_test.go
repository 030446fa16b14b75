package cloudconfig_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/docker/cloudconfig"
)

func parse(t *testing.T, text string) cloudconfig.Document {
	t.Helper()
	d, err := cloudconfig.Parse([]byte(text), map[string]string{"local_hostname": "node-1", "instance_id": "i-1"})
	require.NoError(t, err)
	return d
}

func zip(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.Bytes()
}

// D4: all encodings, permissions with and without quotes.
func TestFiles(t *testing.T) {
	b64 := base64.StdEncoding.EncodeToString
	d := parse(t, `#cloud-config
write_files:
- {path: /a, content: plain, permissions: "0640", owner: "root:root"}
- {path: /b, encoding: b64, content: "`+b64([]byte("base"))+`", permissions: 0600}
- {path: /c, encoding: base64, content: "`+b64([]byte("base"))+`", append: true}
- {path: /d, encoding: gz+b64, content: "`+b64(zip("zipped"))+`"}
- {path: /e, encoding: gzip+base64, content: "`+b64(zip("zipped"))+`"}
- {path: /g, defer: true}
`)
	var got []string
	for _, f := range d.Files {
		got = append(got, f.Path+" "+string(f.Content)+" "+f.Permissions)
	}
	assert.Equal(t, []string{"/a plain 0640", "/b base 0600", "/c base ", "/d zipped ", "/e zipped ", "/g  "}, got)
	assert.True(t, d.Files[2].Append)
}

func TestBadDocuments(t *testing.T) {
	for name, text := range map[string]string{
		"no marker":       "runcmd: []\n",
		"not YAML":        "#cloud-config\n\tx",
		"bad base64":      "#cloud-config\nwrite_files: [{path: /a, encoding: b64, content: '?'}]\n",
		"bad gzip":        "#cloud-config\nwrite_files: [{path: /a, encoding: gzip, content: x}]\n",
		"bad encoding":    "#cloud-config\nwrite_files: [{path: /a, encoding: rot13, content: x}]\n",
		"bad permissions": "#cloud-config\nwrite_files: [{path: /a, permissions: rw}]\n",
		"bad command":     "#cloud-config\nruncmd: [{a: b}]\n",
		"nameless user":   "#cloud-config\nusers: [{gecos: x}]\n",
		"statement":       "## template: jinja\n#cloud-config\n{% if x %}\n",
		"unknown":         "## template: jinja\n#cloud-config\n#{{ ds.meta_data.nothing }}\n",
		"open raw":        "## template: jinja\n#cloud-config\n{% raw %}\n",
	} {
		_, err := cloudconfig.Parse([]byte(text), nil)
		assert.Error(t, err, name)
	}
}

func TestErrorsHoldNoContent(t *testing.T) {
	_, err := cloudconfig.Parse([]byte("#cloud-config\nwrite_files: [{path: /key, content: \"SECRET\n"), nil)
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "SECRET")
}

func TestTemplates(t *testing.T) {
	d := parse(t, "## template: jinja\n#cloud-config\nruncmd:\n- 'echo {{ ds.meta_data.local_hostname }} {{v1.instance_id}} {{ ds.meta_data[\"instance_id\"] }}{# why #}'\n- '{% raw %}{{ kept }} {%{% endraw +%}'\n")
	assert.Equal(t, []string{"echo node-1 i-1 i-1", "{{ kept }} {%"}, d.RunCommands)
	d = parse(t, "#cloud-config\nruncmd:\n- 'echo {{ kept }}'\n")
	assert.Equal(t, []string{"echo {{ kept }}"}, d.RunCommands, "without the marker nothing is a template")
}

// D9: what has no effect is named.
func TestIgnoredKeys(t *testing.T) {
	d := parse(t, "#cloud-config\nntp: {enabled: true}\ndisk_setup: {}\nusers: [default, {name: a}]\n")
	assert.Equal(t, []string{"disk_setup", "ntp"}, d.Ignored)
	assert.Len(t, d.Users, 1)
}

const initDocument = `apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
nodeRegistration:
  kubeletExtraArgs:
  - name: eviction-hard
    value: mine
`

func adapted(t *testing.T, content string) map[string]map[string]any {
	t.Helper()
	d := cloudconfig.Document{Files: []cloudconfig.File{{Path: "/anywhere", Content: []byte(content)}}}
	out := cloudconfig.Adapt(d, cloudconfig.Container{ProviderID: "docker:////x", KubeletArguments: cloudconfig.ForeignKubelet()})
	assert.Equal(t, content, string(d.Files[0].Content), "the input stays")
	kinds := map[string]map[string]any{}
	for _, text := range strings.Split(string(out.Files[0].Content), "---\n") {
		document := map[string]any{}
		require.NoError(t, yaml.Unmarshal([]byte(text), &document))
		kinds[document["kind"].(string)] = document
	}
	return kinds
}

// D3: the user's values win. D5: documents are found by kind, whatever their number and order.
func TestAdaptInit(t *testing.T) {
	kinds := adapted(t, initDocument)
	registration := kinds["InitConfiguration"]["nodeRegistration"].(map[string]any)
	assert.Equal(t, "unix:///var/run/containerd/containerd.sock", registration["criSocket"])
	assert.Contains(t, registration["ignorePreflightErrors"], "SystemVerification")
	arguments := map[string]any{}
	for _, a := range registration["kubeletExtraArgs"].([]any) {
		m := a.(map[string]any)
		assert.NotContains(t, arguments, m["name"])
		arguments[m["name"].(string)] = m["value"]
	}
	assert.Equal(t, "mine", arguments["eviction-hard"])
	assert.Equal(t, "docker:////x", arguments["provider-id"])
	assert.Equal(t, map[string]any{"maxPerCore": float64(0)}, kinds["KubeProxyConfiguration"]["conntrack"])
}

func TestAdaptKeepsWhatTheUserSet(t *testing.T) {
	kinds := adapted(t, `---
kind: KubeProxyConfiguration
apiVersion: kubeproxy.config.k8s.io/v1alpha1
mode: nftables
conntrack: {maxPerCore: 7}
---
apiVersion: kubeadm.k8s.io/v1beta3
kind: InitConfiguration
nodeRegistration: {criSocket: mine, ignorePreflightErrors: [all], kubeletExtraArgs: {provider-id: mine}}
---
apiVersion: kubeadm.k8s.io/v1beta3
kind: ClusterConfiguration
`)
	registration := kinds["InitConfiguration"]["nodeRegistration"].(map[string]any)
	assert.Equal(t, "mine", registration["criSocket"])
	assert.Equal(t, []any{"all"}, registration["ignorePreflightErrors"])
	assert.Equal(t, "mine", registration["kubeletExtraArgs"].(map[string]any)["provider-id"])
	assert.Equal(t, "nftables", kinds["KubeProxyConfiguration"]["mode"])
	assert.Equal(t, map[string]any{"maxPerCore": float64(7)}, kinds["KubeProxyConfiguration"]["conntrack"])
}

func TestAdaptJoin(t *testing.T) {
	kinds := adapted(t, "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\n")
	assert.Len(t, kinds, 1, "a joining machine configures no kube-proxy")
	assert.Contains(t, kinds["JoinConfiguration"]["nodeRegistration"], "kubeletExtraArgs")
}

func TestAdaptLeavesOtherFilesAlone(t *testing.T) {
	for _, content := range []string{"kubeadm.k8s.io/ in prose: [", "apiVersion: v1\nkind: Pod\n", ""} {
		d := cloudconfig.Adapt(cloudconfig.Document{Files: []cloudconfig.File{{Content: []byte(content)}}}, cloudconfig.Container{})
		assert.Equal(t, content, string(d.Files[0].Content))
	}
}

// runScript runs a script of the package in a folder of the test instead of the root of a machine.
func runScript(t *testing.T, d cloudconfig.Document) (root, result string) {
	t.Helper()
	root = t.TempDir()
	script := cloudconfig.Script(d)
	script = strings.ReplaceAll(script, cloudconfig.StateFolder, root+"/state")
	script = strings.ReplaceAll(script, "/run/cluster-api", root+"/run")
	require.NoError(t, os.MkdirAll(root+"/state", 0o755))
	require.NoError(t, os.MkdirAll(root+"/run", 0o755))
	file := filepath.Join(root, "script")
	require.NoError(t, os.WriteFile(file, []byte(script), 0o600))
	output, err := exec.Command("/bin/bash", file).CombinedOutput()
	require.NoError(t, err, string(output))
	content, err := os.ReadFile(root + "/state/result")
	require.NoError(t, err)
	return root, string(content)
}

func TestScriptWritesFilesAsTheyAre(t *testing.T) {
	root := t.TempDir()
	odd := "it's $HOME `id`\nEND\n\\ \x00 no newline at the end"
	d := cloudconfig.Document{Files: []cloudconfig.File{
		{Path: root + "/deep/it's here", Content: []byte(odd), Permissions: "0640"},
		{Path: root + "/list", Content: []byte("a\n")},
		{Path: root + "/list", Content: []byte(strings.Repeat("b", 500) + "\n"), Append: true},
		{Path: root + "/empty"},
	}}
	_, result := runScript(t, d)
	assert.Equal(t, "completed\n", result)
	content, err := os.ReadFile(root + "/deep/it's here")
	require.NoError(t, err)
	assert.Equal(t, odd, string(content))
	info, err := os.Stat(root + "/deep/it's here")
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o640), info.Mode().Perm())
	content, err = os.ReadFile(root + "/list")
	require.NoError(t, err)
	assert.Equal(t, "a\n"+strings.Repeat("b", 500)+"\n", string(content))
	assert.FileExists(t, root+"/empty")
}

func TestScriptRunsCommands(t *testing.T) {
	for _, x := range []struct {
		name     string
		commands []string
		want     string
	}{
		{"all go well", []string{"true", "true"}, "completed\n"},
		{"they share variables", []string{"a=1", `[ "$a" = 1 ]`}, "completed\n"},
		{"the first failure is named, the rest runs", []string{"true", "(exit 3)", "false"}, "failed\nruncmd[1] ended with status 3\nruncmd[2] ended with status 1\n"},
		{"one ends the script", []string{"exit 4", "true"}, "failed\nruncmd ended early with status 4\n"},
		{"the sentinel counts", []string{`echo success > "$_slipway_state/../run/bootstrap-success.complete"`, "false"}, "completed\n"},
	} {
		t.Run(x.name, func(t *testing.T) {
			d := cloudconfig.Document{RunCommands: x.commands}
			_, result := runScript(t, d)
			assert.Equal(t, x.want, result)
		})
	}
}

func TestCommandsAsListsAreNotTouchedByTheShell(t *testing.T) {
	d := parse(t, "#cloud-config\nruncmd:\n- [test, \"$HOME it's\", =, \"$HOME it's\"]\nbootcmd:\n- echo early\n")
	_, result := runScript(t, d)
	assert.Equal(t, []string{`'test' '$HOME it'\''s' '=' '$HOME it'\''s'`}, d.RunCommands)
	assert.Equal(t, "completed\n", result)
}

func TestScriptMakesUsers(t *testing.T) {
	d := parse(t, `#cloud-config
users:
- name: capi
  gecos: It's me
  groups: wheel, docker
  shell: /bin/bash
  lock_passwd: false
  sudo: ALL=(ALL) NOPASSWD:ALL
  ssh_authorized_keys: [ssh-ed25519 AAAA]
`)
	script := cloudconfig.Script(d)
	assert.Contains(t, script, `useradd --create-home --comment 'It'\''s me' --shell '/bin/bash' --groups 'wheel,docker' 'capi'`)
	assert.Contains(t, script, "groupadd --force 'docker'")
	assert.NotContains(t, script, "usermod --lock")
	assert.Contains(t, script, "'/etc/sudoers.d/90-cloud-init-users'")
	assert.Contains(t, script, "'/home/capi/.ssh/authorized_keys'")
	require.NoError(t, exec.Command("/bin/bash", "-n", "-c", script).Run())
}
