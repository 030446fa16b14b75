package kubeadmconfig

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/blang/semver/v4"
	"sigs.k8s.io/yaml"

	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/drift"
)

const (
	// Name is the name of the ConfigMap, Key its key with the document.
	Name, Key = "kubeadm-config", "ClusterConfiguration"

	v1beta3 = "kubeadm.k8s.io/v1beta3"
	v1beta4 = "kubeadm.k8s.io/v1beta4"
)

// newer is the first Kubernetes version whose kubeadm writes v1beta4.
var newer = semver.MustParse("1.31.0")

// Wanted is what the control plane wants kubeadm to find.
type Wanted struct {
	Version string
	// Configuration is nil for a control plane that says nothing about it: then all of it stays as it is.
	Configuration *bootstrapv1.ClusterConfiguration
	// Gates are the feature gates of kubeadm, defaults of the control plane included.
	Gates map[string]bool
}

// Update returns the document with what the control plane wants. It returns the same text if nothing differs.
func Update(document string, wanted Wanted) (string, error) {
	current, err := read(document)
	if err != nil {
		return "", err
	}
	target, err := apiVersion(wanted.Version)
	if err != nil {
		return "", err
	}
	next, err := read(document)
	if err != nil {
		return "", err
	}
	toNewest(next)
	if err := apply(next, wanted); err != nil {
		return "", err
	}
	next["kubernetesVersion"] = wanted.Version
	if target == v1beta3 {
		toOlder(next)
	} else {
		// How long to wait for the API server is a matter of kubeadm init there.
		delete(object(next, "apiServer"), "timeoutForControlPlane")
	}
	return write(document, current, next)
}

// Differences are the fields that Update would change.
func Differences(document string, wanted Wanted) ([]drift.Difference, error) {
	text, err := Update(document, wanted)
	if err != nil {
		return nil, err
	}
	current, err := read(document)
	if err != nil {
		return nil, err
	}
	next, err := read(text)
	if err != nil {
		return nil, err
	}
	return drift.Between(current, next), nil
}

// SetDNS returns the document with the image of CoreDNS that the control plane wants.
func SetDNS(document string, dns bootstrapv1.DNS) (string, error) {
	current, err := read(document)
	if err != nil {
		return "", err
	}
	next, err := read(document)
	if err != nil {
		return "", err
	}
	wanted, err := plain(dns)
	if err != nil {
		return "", err
	}
	settle(next, "dns", wanted, "imageRepository", "imageTag")
	return write(document, current, next)
}

func write(document string, current, next map[string]any) (string, error) {
	if reflect.DeepEqual(current, next) {
		return document, nil
	}
	text, err := yaml.Marshal(next)
	if err != nil {
		return "", fmt.Errorf("writing the document in ConfigMap %s: %w", Name, err)
	}
	return string(text), nil
}

func read(document string) (map[string]any, error) {
	found := map[string]any{}
	if err := yaml.Unmarshal([]byte(document), &found); err != nil {
		// The parser's own words may quote the document.
		return nil, fmt.Errorf("%s in ConfigMap %s is no valid YAML", Key, Name)
	}
	if v := found["apiVersion"]; v != v1beta3 && v != v1beta4 {
		return nil, fmt.Errorf("%s in ConfigMap %s has API version %v; %s and %s are known", Key, Name, v, v1beta3, v1beta4)
	}
	return found, nil
}

// apiVersion is the kubeadm API for a Kubernetes version; pre-releases count as their release.
func apiVersion(kubernetes string) (string, error) {
	parsed, err := semver.ParseTolerant(kubernetes)
	if err != nil {
		return "", fmt.Errorf("kubernetes version %q: %w", kubernetes, err)
	}
	parsed.Pre, parsed.Build = nil, nil
	if parsed.LT(newer) {
		return v1beta3, nil
	}
	return v1beta4, nil
}

// apply brings what is wanted into a document of the newest API version.
func apply(document map[string]any, wanted Wanted) error {
	gates := map[string]any{}
	for name, on := range wanted.Gates {
		gates[name] = on
	}
	if wanted.Configuration == nil {
		if len(gates) > 0 {
			settle(document, "featureGates", gates, sortedKeys(gates)...)
		}
		return nil
	}
	fields, err := plain(wanted.Configuration)
	if err != nil {
		return err
	}
	set(document, "imageRepository", fields["imageRepository"])
	replace(document, "featureGates", orNil(gates))
	replace(document, "certificateValidityPeriod", days(wanted.Configuration.CertificateValidityPeriodDays))
	replace(document, "encryptionAlgorithm", fields["encryptionAlgorithm"])
	settle(document, "apiServer", object(fields, "apiServer"), "extraArgs", "extraEnvs", "extraVolumes", "certSANs")
	for _, component := range []string{"controllerManager", "scheduler"} {
		settle(document, component, object(fields, component), "extraArgs", "extraEnvs", "extraVolumes")
	}
	return applyEtcd(document, object(fields, "etcd"))
}

func applyEtcd(document, wanted map[string]any) error {
	etcd := object(document, "etcd")
	external, isExternal := wanted["external"].(map[string]any)
	if _, wasExternal := etcd["external"]; wasExternal != isExternal && len(etcd) > 0 {
		return fmt.Errorf("%s in ConfigMap %s and the control plane do not agree whether etcd is external", Key, Name)
	}
	if isExternal {
		settle(etcd, "external", external, "endpoints", "caFile", "certFile", "keyFile")
	} else {
		local := object(wanted, "local")
		names := []string{"imageRepository", "imageTag", "extraArgs", "extraEnvs", "serverCertSANs", "peerCertSANs"}
		if local["dataDir"] != nil {
			names = append(names, "dataDir") // kubeadm writes its default down; that stays
		}
		settle(etcd, "local", local, names...)
	}
	if len(etcd) > 0 {
		document["etcd"] = etcd
	}
	return nil
}

// settle makes the named fields of a part as wanted, present or absent, and leaves its other fields alone.
func settle(document map[string]any, part string, wanted map[string]any, names ...string) {
	_, existed := document[part]
	target := object(document, part)
	for _, name := range names {
		replace(target, name, wanted[name])
	}
	if existed || len(target) > 0 {
		document[part] = target
	}
}

// replace sets a field, or removes it if nothing is wanted. What is empty already stays as it is.
func replace(in map[string]any, name string, value any) {
	if value == nil || value == "" {
		if found := reflect.ValueOf(in[name]); in[name] != nil && !(found.Kind() == reflect.Map && found.Len() == 0) {
			delete(in, name)
		}
		return
	}
	in[name] = value
}

func set(in map[string]any, name string, value any) {
	if value != nil && value != "" {
		in[name] = value
	}
}

func object(in map[string]any, name string) map[string]any {
	if found, ok := in[name].(map[string]any); ok {
		return found
	}
	return map[string]any{}
}

// plain is a struct as its JSON object.
func plain(value any) (map[string]any, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encoding the configuration: %w", err)
	}
	fields := map[string]any{}
	if err := json.Unmarshal(encoded, &fields); err != nil {
		return nil, fmt.Errorf("decoding the configuration: %w", err)
	}
	return fields, nil
}

func orNil(in map[string]any) any {
	if len(in) == 0 {
		return nil
	}
	return in
}

func days(number int32) any {
	if number == 0 {
		return nil
	}
	return fmt.Sprintf("%dh0m0s", number*24)
}

// withArguments calls do for every part of a document that has arguments.
func withArguments(document map[string]any, do func(part map[string]any)) {
	for _, component := range []string{"apiServer", "controllerManager", "scheduler"} {
		do(object(document, component))
	}
	do(object(object(document, "etcd"), "local"))
}

// toNewest turns the map of arguments of v1beta3 into the list of v1beta4.
func toNewest(document map[string]any) {
	if document["apiVersion"] == v1beta4 {
		return
	}
	document["apiVersion"] = v1beta4
	withArguments(document, func(part map[string]any) {
		byName, ok := part["extraArgs"].(map[string]any)
		if !ok {
			return
		}
		var list []any
		for _, name := range sortedKeys(byName) {
			list = append(list, map[string]any{"name": name, "value": byName[name]})
		}
		replace(part, "extraArgs", nil)
		if len(list) > 0 {
			part["extraArgs"] = list
		}
	})
}

// toOlder turns the list of arguments of v1beta4 into the map of v1beta3; of a repeated name the last wins.
func toOlder(document map[string]any) {
	document["apiVersion"] = v1beta3
	for _, unknown := range []string{"certificateValidityPeriod", "caCertificateValidityPeriod", "encryptionAlgorithm"} {
		delete(document, unknown)
	}
	withArguments(document, func(part map[string]any) {
		delete(part, "extraEnvs")
		list, ok := part["extraArgs"].([]any)
		if !ok {
			return
		}
		byName := map[string]any{}
		for _, item := range list {
			if argument, ok := item.(map[string]any); ok {
				value, _ := argument["value"].(string)
				byName[fmt.Sprint(argument["name"])] = value
			}
		}
		part["extraArgs"] = byName
	})
}

func sortedKeys(in map[string]any) []string {
	keys := make([]string, 0, len(in))
	for key := range in {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
