package v1beta2

// InPlaceUpdatesAnnotation says on a MachineDeployment or KubeadmControlPlane whether extensions may bring its Machines to a new
// template or version while they run: [InPlaceUpdatesPrefer], which is what its absence means, [InPlaceUpdatesRequire] or [InPlaceUpdatesNever].
// It is Slipway's own.
const InPlaceUpdatesAnnotation = "slipway.dev/in-place-updates"

// The values of InPlaceUpdatesAnnotation.
const (
	// InPlaceUpdatesPrefer updates in place where extensions can, and replaces Machines where they cannot.
	InPlaceUpdatesPrefer = "Prefer"
	// InPlaceUpdatesRequire replaces no Machine for a new template: what cannot be updated in place stays, and it is told why.
	InPlaceUpdatesRequire = "Require"
	// InPlaceUpdatesNever asks no extension.
	InPlaceUpdatesNever = "Never"
)
