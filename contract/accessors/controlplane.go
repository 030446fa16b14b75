package accessors

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// ControlPlaneContract has the paths of a control plane object (contract rules C1 to C18).
type ControlPlaneContract struct{ version string }

// ControlPlane returns the paths of a control plane that implements a contract version.
func ControlPlane(version string) ControlPlaneContract { return ControlPlaneContract{version} }

// ControlPlaneEndpoint is where the workload API answers, if the control plane decides that.
func (ControlPlaneContract) ControlPlaneEndpoint() Path[clusterv1.APIEndpoint] {
	return at[clusterv1.APIEndpoint]("spec.controlPlaneEndpoint")
}

// Replicas is how many machines are wanted; absent if the control plane has none.
func (ControlPlaneContract) Replicas() Path[int32] { return at[int32]("spec.replicas") }

// Version is the wanted Kubernetes version.
func (ControlPlaneContract) Version() Path[string] { return at[string]("spec.version") }

// Initialized says that the API accepts requests; it never goes back.
func (c ControlPlaneContract) Initialized() Path[bool] {
	if c.version == V1Beta1 {
		return at[bool]("status.initialized")
	}
	return at[bool]("status.initialization.controlPlaneInitialized")
}

// ExternallyManaged says that there are no Nodes for the control plane.
func (ControlPlaneContract) ExternallyManaged() Path[bool] {
	return at[bool]("status.externalManagedControlPlane")
}

// Counters are the numbers of a control plane's machines; nil where it does not report one.
type Counters struct {
	Desired, Replicas, Ready, Available, UpToDate *int32
}

// Counters reads the counters in the shape of the contract version.
func (c ControlPlaneContract) Counters(obj *unstructured.Unstructured) (Counters, error) {
	var out Counters
	var errs []error
	read := func(path string) *int32 {
		v, err := at[int32](path).Get(obj)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil {
			errs = append(errs, err)
			return nil
		}
		return &v
	}
	out.Desired, out.Replicas, out.Ready = read("spec.replicas"), read("status.replicas"), read("status.readyReplicas")
	if c.version == V1Beta1 {
		out.UpToDate = read("status.updatedReplicas")
		if unavailable := read("status.unavailableReplicas"); unavailable != nil && out.Desired != nil {
			available := max(0, *out.Desired-*unavailable)
			out.Available = &available
		}
	} else {
		out.UpToDate, out.Available = read("status.upToDateReplicas"), read("status.availableReplicas")
	}
	return out, errors.Join(errs...)
}

// Versions reads the versions in use, the lowest first. Old control planes report one; an unordered list or an invalid
// version is an error.
func (ControlPlaneContract) Versions(obj *unstructured.Unstructured) ([]clusterv1.StatusVersion, error) {
	list, err := at[[]clusterv1.StatusVersion]("status.versions").GetOr(obj, nil)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		v, err := at[string]("status.version").GetOr(obj, "")
		if err != nil || v == "" {
			return nil, err
		}
		list = []clusterv1.StatusVersion{{Version: v}}
	}
	var last *version.Version
	for _, v := range list {
		parsed, err := version.ParseSemantic(v.Version)
		if err != nil {
			return nil, fmt.Errorf("%s: status.versions: %w: %q is no version", Describe(obj), ErrWrongType, v.Version)
		}
		if last != nil && parsed.LessThan(last) {
			return nil, fmt.Errorf("%s: status.versions: %w: the oldest must come first", Describe(obj), ErrWrongType)
		}
		last = parsed
	}
	return list, nil
}

// SetVersions writes the versions in use to where the control plane reports them, which is for pictures of what would be: only its
// provider knows what is. What the control plane does not report stays away.
func (ControlPlaneContract) SetVersions(obj *unstructured.Unstructured, versions ...clusterv1.StatusVersion) error {
	var errs []error
	list, lowest := at[[]clusterv1.StatusVersion]("status.versions"), at[string]("status.version")
	if _, err := list.Get(obj); err == nil {
		errs = append(errs, list.Set(obj, versions))
	}
	if _, err := lowest.Get(obj); err == nil && len(versions) > 0 {
		errs = append(errs, lowest.Set(obj, versions[0].Version))
	}
	return errors.Join(errs...)
}
