// Package plan says what a changed MachineDeployment or MachineSet would do to each of its Machines: replaced, changed in
// place or untouched, and because of which fields. It reads and never writes. Its answer is what the decisions of the two
// controllers lead to when they are played through in memory, with Machines that do what they should. It needs
// controller-runtime.
package plan

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	"github.com/slipway-capi/slipway/contract/contractversion"
	"github.com/slipway-capi/slipway/contract/extension/hookcall"
)

// Fate is what a change does to a Machine in the end.
type Fate string

// The fates of a Machine.
const (
	Untouched Fate = "untouched"
	InPlace   Fate = "in place"
	Replaced  Fate = "replaced"
	Removed   Fate = "removed"
)

// Field is one field that changes. From and To are plain text for labels, names, versions and times, else JSON; empty for
// an absent value. Values of bootstrap templates are not told, since they may be secret.
type Field struct {
	// Path is that of the MachineDeployment or MachineSet for a Machine that is replaced or removed, that of the Machine
	// for one that is changed in place. Fields of templates begin with their kind: "FakeMachineTemplate spec.template.spec.size".
	Path     string
	From, To string
}

// Hidden stands for a value that is not told.
const Hidden = "(not shown)"

// Machine is one Machine and its fate, because of fields.
type Machine struct {
	Name string
	// Set is the MachineSet that has it now; empty for one that is going to be adopted.
	Set     string
	Fate    Fate
	Because []Field
	// Why says in a sentence what the fields alone do not: for instance that an outdated Machine stays until it is deleted.
	Why string
}

// Plan is what the controllers would do until nothing is left to be done.
type Plan struct {
	// Machines are in the order in which they would go, then the others by age.
	Machines []Machine
	// Added is how many Machines come beyond those that replace another one.
	Added int
	// Blocked says what stands in the way now. The fates are told as if it were out of the way.
	Blocked []string
}

// Request asks for a plan.
type Request struct {
	// Reader reads the management cluster, Resolver finds contract versions there.
	Reader   client.Reader
	Resolver *contractversion.Resolver
	// Proposed is a MachineDeployment or MachineSet as it would be, with the name and namespace of one that exists. Proposing
	// it as it is tells what is going to happen without any change.
	Proposed client.Object
	// Now is the time to plan for; zero is the present.
	Now time.Time
	// CanUpdate asks the extension that updates Machines in place how much of a difference it covers; the error is [ErrNobody]
	// if there is none. Nil plans as if there were none.
	CanUpdate func(ctx context.Context, namespace string, request *hooks.CanUpdateMachineSetRequest) (*hooks.CanUpdateMachineSetResponse, error)
}

// ErrNobody says that no extension updates Machines in place.
var ErrNobody = hookcall.ErrNobody

// What cannot be planned.
var (
	// ErrKind says that the proposed object is neither a MachineDeployment nor a MachineSet.
	ErrKind = errors.New("only a MachineDeployment or a MachineSet has such a plan")
	// ErrDeleting says that the object is being deleted, and all its Machines with it.
	ErrDeleting = errors.New("is being deleted, and all its Machines with it")
	// ErrOwned says that a MachineSet belongs to a MachineDeployment, which would take the change back.
	ErrOwned = errors.New("would take the change back")
)

// Make makes a plan.
func Make(ctx context.Context, r Request) (*Plan, error) {
	if r.Now.IsZero() {
		r.Now = time.Now()
	}
	switch proposed := r.Proposed.(type) {
	case *clusterv1.MachineDeployment:
		return ofDeployment(ctx, r, proposed)
	case *clusterv1.MachineSet:
		return ofSet(ctx, r, proposed)
	}
	return nil, fmt.Errorf("%T: %w", r.Proposed, ErrKind)
}

// stored reads the object that a proposal is about.
func stored(ctx context.Context, reader client.Reader, proposed, into client.Object, kind string) error {
	if err := reader.Get(ctx, client.ObjectKeyFromObject(proposed), into); err != nil {
		return fmt.Errorf("reading %s %s: %w", kind, proposed.GetName(), err)
	}
	if !into.GetDeletionTimestamp().IsZero() {
		return fmt.Errorf("%s %s %w", kind, proposed.GetName(), ErrDeleting)
	}
	return nil
}
