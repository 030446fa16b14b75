package cloudconfig

import (
	"bytes"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Container says in what a machine that is a container differs.
type Container struct {
	ProviderID string
	// KubeletArguments are for images whose kubelet does not know by itself that it runs in a container.
	KubeletArguments map[string]string
}

// criSocket is where containerd listens in all node images.
const criSocket = "unix:///var/run/containerd/containerd.sock"

// tolerated are the checks of kubeadm that fail in a container though nothing is wrong.
var tolerated = []string{"SystemVerification", "Swap", "FileContent--proc-sys-net-bridge-bridge-nf-call-iptables"}

// ForeignKubelet are the arguments a kubelet needs in a container when its image does not configure it: no eviction, for
// the disk is the host's, and cgroups where the image's entrypoint made them.
func ForeignKubelet() map[string]string {
	return map[string]string{
		"cgroup-root": "/kubelet", "runtime-cgroups": "/system.slice/containerd.service", "fail-swap-on": "false",
		"image-gc-high-threshold": "100", "eviction-hard": "nodefs.available<0%,nodefs.inodesFree<0%,imagefs.available<0%",
	}
}

// Adapt makes the kubeadm documents among the files fit for a container. What the user set stays as it is.
func Adapt(d Document, c Container) Document {
	d.Files = slices.Clone(d.Files)
	for i, f := range d.Files {
		if bytes.Contains(f.Content, []byte("kubeadm.k8s.io/")) {
			d.Files[i].Content = adaptKubeadm(f.Content, c)
		}
	}
	return d
}

// adaptKubeadm returns the content unchanged if it is not a sequence of YAML objects.
func adaptKubeadm(content []byte, c Container) []byte {
	var documents []map[string]any
	for _, text := range strings.Split("\n"+string(content), "\n---") {
		document := map[string]any{}
		if err := yaml.Unmarshal([]byte(text), &document); err != nil {
			return content
		}
		if len(document) > 0 {
			documents = append(documents, document)
		}
	}
	kinds := map[string]map[string]any{}
	for _, document := range documents {
		kind, _ := document["kind"].(string)
		kinds[kind] = document
		if kind == "InitConfiguration" || kind == "JoinConfiguration" {
			adaptRegistration(document, c)
		}
	}
	if kinds["ClusterConfiguration"] != nil {
		proxy := kinds["KubeProxyConfiguration"]
		if proxy == nil {
			proxy = map[string]any{"apiVersion": "kubeproxy.config.k8s.io/v1alpha1", "kind": "KubeProxyConfiguration"}
			documents = append(documents, proxy)
		}
		// The host's connection tracking table cannot be resized from a container.
		setDefault(child(proxy, "conntrack"), "maxPerCore", 0)
	}
	return join(documents, content)
}

func adaptRegistration(document map[string]any, c Container) {
	registration := child(document, "nodeRegistration")
	setDefault(registration, "criSocket", criSocket)
	list, _ := registration["ignorePreflightErrors"].([]any)
	for _, check := range tolerated {
		if !slices.Contains(list, any(check)) && !slices.Contains(list, any("all")) {
			list = append(list, check)
		}
	}
	registration["ignorePreflightErrors"] = list
	arguments := map[string]string{}
	for name, value := range c.KubeletArguments {
		arguments[name] = value
	}
	if c.ProviderID != "" {
		arguments["provider-id"] = c.ProviderID
	}
	version, _ := document["apiVersion"].(string)
	addArguments(registration, arguments, strings.HasSuffix(version, "/v1beta3") || strings.HasSuffix(version, "/v1beta2"))
}

// addArguments knows both shapes that kubeadm has had: a map up to v1beta3, a list since.
func addArguments(registration map[string]any, arguments map[string]string, asMap bool) {
	const key = "kubeletExtraArgs"
	if have, ok := registration[key].(map[string]any); ok || asMap {
		if have == nil {
			have = map[string]any{}
		}
		for name, value := range arguments {
			setDefault(have, name, value)
		}
		registration[key] = have
		return
	}
	list, _ := registration[key].([]any)
	have := map[any]bool{}
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			have[m["name"]] = true
		}
	}
	names := make([]string, 0, len(arguments))
	for name := range arguments {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if !have[name] {
			list = append(list, map[string]any{"name": name, "value": arguments[name]})
		}
	}
	registration[key] = list
}

func child(parent map[string]any, key string) map[string]any {
	m, ok := parent[key].(map[string]any)
	if !ok {
		m = map[string]any{}
		parent[key] = m
	}
	return m
}

func setDefault(m map[string]any, key string, value any) {
	if have, ok := m[key]; !ok || have == "" {
		m[key] = value
	}
}

func join(documents []map[string]any, original []byte) []byte {
	var parts []string
	for _, document := range documents {
		text, err := yaml.Marshal(document)
		if err != nil {
			return original
		}
		parts = append(parts, string(text))
	}
	return []byte(strings.Join(parts, "---\n"))
}
