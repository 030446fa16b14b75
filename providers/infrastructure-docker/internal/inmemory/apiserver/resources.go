// Package apiserver answers like the API server of a workload cluster, on top of a store: discovery, all verbs, watches
// that resume, selectors, patches of every kind, eviction and port-forward. Callers are authenticated by certificate
// and authorized for everything.
package apiserver

import (
	"sort"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// resource is one kind that the simulated cluster serves.
type resource struct {
	gv           schema.GroupVersion
	name, kind   string
	namespaced   bool
	status       bool
	short        []string
	subresources []string
}

func r(group, version, name, kind string, namespaced, status bool, short ...string) resource {
	return resource{gv: schema.GroupVersion{Group: group, Version: version}, name: name, kind: kind, namespaced: namespaced, status: status, short: short}
}

// resources are the kinds that controllers of a management cluster and people with kubectl use.
var resources = []resource{
	r("", "v1", "namespaces", "Namespace", false, true, "ns"),
	r("", "v1", "nodes", "Node", false, true, "no"),
	{gv: schema.GroupVersion{Version: "v1"}, name: "pods", kind: "Pod", namespaced: true, status: true, short: []string{"po"}, subresources: []string{"eviction", "portforward", "binding"}},
	r("", "v1", "configmaps", "ConfigMap", true, false, "cm"),
	r("", "v1", "secrets", "Secret", true, false),
	r("", "v1", "services", "Service", true, true, "svc"),
	r("", "v1", "endpoints", "Endpoints", true, false, "ep"),
	r("", "v1", "events", "Event", true, false, "ev"),
	r("", "v1", "serviceaccounts", "ServiceAccount", true, false, "sa"),
	r("", "v1", "persistentvolumes", "PersistentVolume", false, true, "pv"),
	r("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", true, true, "pvc"),
	r("apps", "v1", "daemonsets", "DaemonSet", true, true, "ds"),
	r("apps", "v1", "deployments", "Deployment", true, true, "deploy"),
	r("apps", "v1", "replicasets", "ReplicaSet", true, true, "rs"),
	r("apps", "v1", "statefulsets", "StatefulSet", true, true, "sts"),
	r("batch", "v1", "jobs", "Job", true, true),
	r("coordination.k8s.io", "v1", "leases", "Lease", true, false),
	r("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", true, false),
	r("events.k8s.io", "v1", "events", "Event", true, false, "ev"),
	r("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", true, true, "pdb"),
	r("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", false, false),
	r("rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", false, false),
	r("rbac.authorization.k8s.io", "v1", "roles", "Role", true, false),
	r("rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", true, false),
	r("storage.k8s.io", "v1", "storageclasses", "StorageClass", false, false, "sc"),
	r("storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", false, true),
	r("storage.k8s.io", "v1", "csidrivers", "CSIDriver", false, false),
	r("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", false, true, "crd", "crds"),
}

func find(gv schema.GroupVersion, name string) (resource, bool) {
	for _, x := range resources {
		if x.gv == gv && x.name == name {
			return x, true
		}
	}
	return resource{}, false
}

func (x resource) group() schema.GroupResource {
	return schema.GroupResource{Group: x.gv.Group, Resource: x.name}
}

func (x resource) gvk() schema.GroupVersionKind { return x.gv.WithKind(x.kind) }

// groupVersions are all of them, sorted, the core group first.
func groupVersions() []schema.GroupVersion {
	seen := map[schema.GroupVersion]bool{}
	var out []schema.GroupVersion
	for _, x := range resources {
		if !seen[x.gv] {
			seen[x.gv] = true
			out = append(out, x.gv)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Group < out[j].Group })
	return out
}

var verbs = metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

func resourceList(gv schema.GroupVersion) *metav1.APIResourceList {
	out := &metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv.String()}
	for _, x := range resources {
		if x.gv != gv {
			continue
		}
		out.APIResources = append(out.APIResources, metav1.APIResource{Name: x.name, SingularName: "", Namespaced: x.namespaced, Kind: x.kind, Verbs: verbs, ShortNames: x.short})
		if x.status {
			out.APIResources = append(out.APIResources, metav1.APIResource{Name: x.name + "/status", Namespaced: x.namespaced, Kind: x.kind, Verbs: metav1.Verbs{"get", "patch", "update"}})
		}
		for _, s := range x.subresources {
			sub := metav1.APIResource{Name: x.name + "/" + s, Namespaced: x.namespaced, Kind: x.kind, Verbs: metav1.Verbs{"create", "get"}}
			if s == "eviction" {
				sub.Kind, sub.Group, sub.Version = "Eviction", "policy", "v1"
			}
			out.APIResources = append(out.APIResources, sub)
		}
	}
	return out
}

func groupList() *metav1.APIGroupList {
	out := &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	for _, gv := range groupVersions() {
		if gv.Group == "" {
			continue
		}
		v := metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: gv.Version}
		out.Groups = append(out.Groups, metav1.APIGroup{Name: gv.Group, Versions: []metav1.GroupVersionForDiscovery{v}, PreferredVersion: v})
	}
	return out
}
