// Package contract is the root of the module that provider authors take: the API types, and what every provider does the same way.
//
// Types (import only apimachinery and k8s.io/api):
//
//	api/core/v1beta2, api/addons/v1beta2, api/ipam/v1beta2, api/runtime/v1beta2
//
// Pure helpers (the same imports, and k8s.io/utils):
//
//	accessors        reads and writes the contract's fields of provider objects, with typed errors
//	bootstrapreport  finds why a first boot failed, and takes secrets out
//	conditions       sets, mirrors, summarizes and aggregates conditions
//	contractversion  finds the API version that implements the contract from a CRD's labels
//	cloning          makes objects from templates
//	labels, paused, decision
//
// With controller-runtime:
//
//	patch            writes what changed on one object, and nothing when nothing changed
//	ownership        owner references, and the Cluster or Machine that owns an object
//	external         reads and watches the objects that a reference names
//	certificates, kubeconfig   keys, authorities and the administrator's kubeconfig of a workload cluster
//	clustercache     connections to workload clusters
//	manager          the frame of a manager: flags, logs, probes, diagnostics, caches
//	testenv          a real API server for tests
package contract
