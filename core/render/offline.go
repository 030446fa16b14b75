package render

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
)

// offline stands for extensions where there are none to ask.
type offline struct {
	skip    bool
	skipped []string
}

var errOffline = errors.New("it is external: its extension is not asked where there is no management cluster")

// GeneratePatches changes nothing.
func (o *offline) GeneratePatches(_ context.Context, extension string, _ *hooks.GeneratePatchesRequest) (*hooks.GeneratePatchesResponse, error) {
	return &hooks.GeneratePatchesResponse{}, o.pass(extension)
}

// ValidateTopology finds nothing.
func (o *offline) ValidateTopology(_ context.Context, extension string, _ *hooks.ValidateTopologyRequest) error {
	return o.pass(extension)
}

func (o *offline) pass(extension string) error {
	if !o.skip {
		return errOffline
	}
	if !slices.Contains(o.skipped, extension) {
		o.skipped = append(o.skipped, extension)
	}
	return nil
}

func (o *offline) warnings() []string {
	var out []string
	for _, extension := range o.skipped {
		out = append(out, "extension "+extension+" was not asked: what it would change or refuse is not shown")
	}
	return out
}

// distinct is a suffix that differs from one purpose to the other.
func distinct(purpose string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(purpose)))[:len(Suffix)]
}
