package kubeadm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/blang/semver/v4"
	"sigs.k8s.io/yaml"

	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
)

const (
	group   = "kubeadm.k8s.io/"
	v1beta3 = group + "v1beta3"
	v1beta4 = group + "v1beta4"
)

// oldest is the first Kubernetes version whose kubeadm reads v1beta3; newer is the first that reads v1beta4.
var (
	oldest = semver.MustParse("1.22.0")
	newer  = semver.MustParse("1.31.0")
)

// Injected is what the documents take from the Cluster and the Machine instead of the user's configuration.
type Injected struct {
	ClusterName          string
	KubernetesVersion    string
	ControlPlaneEndpoint string
	ServiceDomain        string
	PodCIDRs             []string
	ServiceCIDRs         []string
}

// APIVersion is the kubeadm API for a Kubernetes version; pre-releases count as their release.
func APIVersion(kubernetes string) (string, error) {
	v, err := semver.ParseTolerant(kubernetes)
	if err != nil {
		return "", fmt.Errorf("kubernetes version %q: %w", kubernetes, err)
	}
	v.Pre, v.Build = nil, nil
	switch {
	case v.LT(oldest):
		return "", fmt.Errorf("kubernetes version %s is not supported: the oldest is %s", kubernetes, oldest)
	case v.LT(newer):
		return v1beta3, nil
	}
	return v1beta4, nil
}

// Init writes the two documents of kubeadm init, ClusterConfiguration first.
func Init(spec *bootstrapv1.KubeadmConfigSpec, in Injected) (string, error) {
	version, err := APIVersion(in.KubernetesVersion)
	if err != nil {
		return "", err
	}
	cluster, err := clusterConfiguration(spec, in, version)
	if err != nil {
		return "", err
	}
	init, err := fields(spec.InitConfiguration)
	if err != nil {
		return "", err
	}
	for _, t := range list(init["bootstrapTokens"]) {
		rename(t, "ttlSeconds", "ttl", seconds)
	}
	registration(init, version)
	timeouts(init, version, nil)
	header(init, version, "InitConfiguration")
	return join(cluster, init)
}

// Join writes the document of kubeadm join.
func Join(spec *bootstrapv1.KubeadmConfigSpec, in Injected) (string, error) {
	version, err := APIVersion(in.KubernetesVersion)
	if err != nil {
		return "", err
	}
	doc, err := fields(spec.JoinConfiguration)
	if err != nil {
		return "", err
	}
	if spec.JoinConfiguration.ControlPlane != nil && doc["controlPlane"] == nil {
		doc["controlPlane"] = map[string]any{}
	}
	discovery := object(doc, "discovery")
	if file, ok := discovery["file"].(map[string]any); ok {
		delete(file, "kubeConfig")
		dropEmpty(discovery, "file")
	}
	registration(doc, version)
	timeouts(doc, version, discovery)
	header(doc, version, "JoinConfiguration")
	return join(doc)
}

func clusterConfiguration(spec *bootstrapv1.KubeadmConfigSpec, in Injected, version string) (map[string]any, error) {
	doc, err := fields(spec.ClusterConfiguration)
	if err != nil {
		return nil, err
	}
	for _, component := range []string{"apiServer", "controllerManager", "scheduler"} {
		arguments(object(doc, component), "extraArgs", version)
		dropEmpty(doc, component)
	}
	etcd := object(doc, "etcd")
	if local, ok := etcd["local"].(map[string]any); ok {
		arguments(local, "extraArgs", version)
	}
	dropEmpty(doc, "etcd")
	rename(doc, "certificateValidityPeriodDays", "certificateValidityPeriod", days)
	rename(doc, "caCertificateValidityPeriodDays", "caCertificateValidityPeriod", days)
	if version == v1beta3 {
		for _, k := range []string{"certificateValidityPeriod", "caCertificateValidityPeriod", "encryptionAlgorithm"} {
			delete(doc, k)
		}
		if t := spec.InitConfiguration.Timeouts.ControlPlaneComponentHealthCheckSeconds; t != nil {
			object(doc, "apiServer")["timeoutForControlPlane"] = seconds(*t)
		}
	}
	set(doc, "clusterName", in.ClusterName)
	set(doc, "kubernetesVersion", in.KubernetesVersion)
	if doc["controlPlaneEndpoint"] == nil {
		set(doc, "controlPlaneEndpoint", in.ControlPlaneEndpoint)
	}
	network := map[string]any{}
	set(network, "dnsDomain", in.ServiceDomain)
	set(network, "podSubnet", strings.Join(in.PodCIDRs, ","))
	set(network, "serviceSubnet", strings.Join(in.ServiceCIDRs, ","))
	if len(network) > 0 {
		doc["networking"] = network
	}
	header(doc, version, "ClusterConfiguration")
	return doc, nil
}

// arguments turns the list of arguments into a map where kubeadm wants one; of a repeated name the last wins. The
// environment of components is known from v1beta4 on.
func arguments(component map[string]any, key, version string) {
	if version != v1beta3 {
		return
	}
	delete(component, "extraEnvs")
	args := list(component[key])
	if len(args) == 0 {
		return
	}
	byName := map[string]any{}
	for _, a := range args {
		value, _ := a["value"].(string)
		byName[fmt.Sprint(a["name"])] = value
	}
	component[key] = byName
}

// registration keeps the difference between no taints given (null, kubeadm's default) and an empty list (no taints).
func registration(doc map[string]any, version string) {
	node := object(doc, "nodeRegistration")
	if _, ok := node["taints"]; !ok {
		node["taints"] = nil
	}
	arguments(node, "kubeletExtraArgs", version)
	if version == v1beta3 {
		delete(node, "imagePullSerial")
	}
}

// timeouts renames …Seconds fields and gives them units; v1beta3 knows only the one for discovery on joining.
func timeouts(doc map[string]any, version string, discovery map[string]any) {
	t, ok := doc["timeouts"].(map[string]any)
	if !ok {
		return
	}
	out := map[string]any{}
	for k, v := range t {
		out[strings.TrimSuffix(k, "Seconds")] = seconds(v)
	}
	delete(doc, "timeouts")
	if version == v1beta4 {
		doc["timeouts"] = out
	} else if discovery != nil && out["tlsBootstrap"] != nil {
		discovery["timeout"] = out["tlsBootstrap"]
	}
}

func header(doc map[string]any, version, kind string) {
	doc["apiVersion"], doc["kind"] = version, kind
}

func join(docs ...map[string]any) (string, error) {
	var out []string
	for _, d := range docs {
		raw, err := json.Marshal(d)
		if err == nil {
			raw, err = yaml.JSONToYAML(escapeControls(raw))
		}
		if err != nil {
			return "", fmt.Errorf("writing kubeadm document: %w", err)
		}
		out = append(out, string(raw))
	}
	return strings.Join(out, "---\n"), nil
}

// escapeControls writes characters that YAML does not take literally, but JSON does, as escapes. In JSON they can only be
// inside of strings.
func escapeControls(text []byte) []byte {
	var out bytes.Buffer
	for _, r := range string(text) {
		if (r >= 0x7f && r <= 0x9f) || (r >= 0xfffe && r <= 0xffff) || r == 0xfeff {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	return out.Bytes()
}

// fields is a struct as its JSON object.
func fields(v any) (map[string]any, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encoding configuration: %w", err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("decoding configuration: %w", err)
	}
	return out, nil
}

func object(in map[string]any, key string) map[string]any {
	o, ok := in[key].(map[string]any)
	if !ok {
		o = map[string]any{}
		in[key] = o
	}
	return o
}

func list(v any) []map[string]any {
	items, _ := v.([]any)
	var out []map[string]any
	for _, i := range items {
		if m, ok := i.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func dropEmpty(in map[string]any, key string) {
	if o, ok := in[key].(map[string]any); ok && len(o) == 0 {
		delete(in, key)
	}
}

func set(in map[string]any, key, value string) {
	if value != "" {
		in[key] = value
	}
}

func rename(in map[string]any, from, to string, convert func(any) string) {
	if v, ok := in[from]; ok {
		delete(in, from)
		in[to] = convert(v)
	}
}

func seconds(v any) string { return fmt.Sprintf("%vs", v) }

func days(v any) string {
	n, _ := v.(float64)
	return fmt.Sprintf("%dh0m0s", int64(n)*24)
}
