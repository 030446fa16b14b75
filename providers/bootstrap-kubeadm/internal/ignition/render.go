package ignition

import (
	"encoding/json"
	"errors"
	"fmt"

	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/internal/firstboot"
)

// Render writes the document: what the input says, and what the user's additional configuration adds to it or overrides.
// The warnings are about the additional configuration.
func Render(in firstboot.Input, spec bootstrapv1.IgnitionSpec) (document []byte, warnings []string, err error) {
	p, err := newPlan(in)
	if err != nil {
		return nil, nil, err
	}
	extra, err := parseAdditional(spec.ContainerLinuxConfig.AdditionalConfig)
	if err != nil {
		return nil, nil, err
	}
	var config any
	if extra.butane {
		config, warnings, err = p.write3(extra)
	} else {
		config, warnings, err = p.write2(extra)
	}
	if err != nil {
		return nil, nil, err
	}
	if strict := spec.ContainerLinuxConfig.Strict; len(warnings) > 0 && strict != nil && *strict {
		return nil, nil, fmt.Errorf("additionalConfig: %w (strict is set, which makes warnings errors)", errors.New(warnings[0]))
	}
	document, err = json.Marshal(config)
	if err != nil {
		return nil, nil, fmt.Errorf("writing Ignition config: %w", err)
	}
	return document, warnings, nil
}
