package kubeadm

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
)

// maxDocument is more than any ConfigMap can hold.
const maxDocument = 1 << 20

// Read is the way back from [Init] and [Join]: it takes kubeadm's documents, as in the ConfigMap kubeadm-config of a cluster,
// and returns our fields and what was injected. Fields of kubeadm that we do not have are passed over.
func Read(text string) (*bootstrapv1.KubeadmConfigSpec, Injected, error) {
	spec, in := &bootstrapv1.KubeadmConfigSpec{}, Injected{}
	if len(text) > maxDocument {
		return nil, in, fmt.Errorf("the kubeadm documents are larger than %d bytes", maxDocument)
	}
	for part := range strings.SplitSeq("\n"+text, "\n---") {
		doc := map[string]any{}
		if err := yaml.Unmarshal([]byte(part), &doc); err != nil {
			return nil, Injected{}, fmt.Errorf("reading kubeadm document: %w", err)
		}
		if len(doc) == 0 {
			continue
		}
		if err := readDocument(doc, spec, &in); err != nil {
			return nil, Injected{}, err
		}
	}
	return spec, in, nil
}

func readDocument(doc map[string]any, spec *bootstrapv1.KubeadmConfigSpec, in *Injected) error {
	version, kind := fmt.Sprint(doc["apiVersion"]), fmt.Sprint(doc["kind"])
	if version != v1beta3 && version != v1beta4 {
		return fmt.Errorf("%s of apiVersion %s cannot be read: only %s and %s can", kind, version, v1beta3, v1beta4)
	}
	r := reader{version: version}
	switch kind {
	case "ClusterConfiguration":
		return r.cluster(doc, spec, in)
	case "InitConfiguration":
		for _, t := range list(doc["bootstrapTokens"]) {
			r.duration(t, "ttl", "ttlSeconds", time.Second)
		}
		r.node(doc)
		return r.decode(doc, &spec.InitConfiguration)
	case "JoinConfiguration":
		if discovery, ok := doc["discovery"].(map[string]any); ok && version == v1beta3 && discovery["timeout"] != nil {
			object(doc, "timeouts")["tlsBootstrap"] = discovery["timeout"]
		}
		r.node(doc)
		return r.decode(doc, &spec.JoinConfiguration)
	}
	return fmt.Errorf("kubeadm document of the unknown kind %s", kind)
}

// reader collects what went wrong on the way.
type reader struct {
	version string
	errs    []error
}

func (r *reader) cluster(doc map[string]any, spec *bootstrapv1.KubeadmConfigSpec, in *Injected) error {
	for _, component := range []string{"apiServer", "controllerManager", "scheduler"} {
		if c, ok := doc[component].(map[string]any); ok {
			r.arguments(c, "extraArgs")
		}
	}
	if etcd, ok := doc["etcd"].(map[string]any); ok {
		if local, ok := etcd["local"].(map[string]any); ok {
			r.arguments(local, "extraArgs")
		}
	}
	r.duration(doc, "certificateValidityPeriod", "certificateValidityPeriodDays", 24*time.Hour)
	r.duration(doc, "caCertificateValidityPeriod", "caCertificateValidityPeriodDays", 24*time.Hour)
	if api, ok := doc["apiServer"].(map[string]any); ok && r.version == v1beta3 && api["timeoutForControlPlane"] != nil {
		r.duration(api, "timeoutForControlPlane", "seconds", time.Second)
		if n, ok := api["seconds"].(int32); ok {
			spec.InitConfiguration.Timeouts.ControlPlaneComponentHealthCheckSeconds = &n
		}
	}
	injected := struct {
		ClusterName, KubernetesVersion, ControlPlaneEndpoint string
		Networking                                           struct{ DNSDomain, PodSubnet, ServiceSubnet string }
	}{}
	if err := r.decode(doc, &injected); err != nil {
		return err
	}
	*in = Injected{ClusterName: injected.ClusterName, KubernetesVersion: injected.KubernetesVersion, ControlPlaneEndpoint: injected.ControlPlaneEndpoint,
		ServiceDomain: injected.Networking.DNSDomain, PodCIDRs: blocks(injected.Networking.PodSubnet), ServiceCIDRs: blocks(injected.Networking.ServiceSubnet)}
	return r.decode(doc, &spec.ClusterConfiguration)
}

func blocks(subnets string) []string {
	if subnets == "" {
		return nil
	}
	return strings.Split(subnets, ",")
}

func (r *reader) node(doc map[string]any) {
	if node, ok := doc["nodeRegistration"].(map[string]any); ok {
		r.arguments(node, "kubeletExtraArgs")
	}
	if t, ok := doc["timeouts"].(map[string]any); ok {
		for _, k := range slices.Sorted(maps.Keys(t)) {
			r.duration(t, k, k+"Seconds", time.Second)
		}
	}
}

// arguments turns the map of v1beta3 into our list, by name.
func (r *reader) arguments(component map[string]any, key string) {
	byName, ok := component[key].(map[string]any)
	if !ok {
		return
	}
	var out []any
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		out = append(out, map[string]any{"name": name, "value": byName[name]})
	}
	component[key] = out
}

// duration turns a time into a whole number of units: what is beyond is cut off, and what our field cannot hold becomes the
// most it can.
func (r *reader) duration(in map[string]any, from, to string, unit time.Duration) {
	v, ok := in[from]
	if !ok {
		return
	}
	delete(in, from)
	if v == nil {
		return
	}
	d, err := time.ParseDuration(fmt.Sprint(v))
	if err != nil {
		r.errs = append(r.errs, fmt.Errorf("%s: %w", from, err))
		return
	}
	in[to] = int32(min(max(d/unit, 0), math.MaxInt32))
}

func (r *reader) decode(doc map[string]any, into any) error {
	raw, err := json.Marshal(doc)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err = errors.Join(append(r.errs, err)...); err != nil {
		return fmt.Errorf("reading kubeadm's %v: %w", doc["kind"], err)
	}
	return nil
}
