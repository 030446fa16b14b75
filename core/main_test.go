package main

import (
	"context"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonsv1 "github.com/slipway-capi/slipway/contract/api/addons/v1beta2"
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	ipamv1 "github.com/slipway-capi/slipway/contract/api/ipam/v1beta2"
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/manager"
	"github.com/slipway-capi/slipway/contract/testenv"
	"github.com/slipway-capi/slipway/core/config"
	"github.com/slipway-capi/slipway/core/internal/controllers/topology"
	"github.com/slipway-capi/slipway/core/internal/webhooks"
)

var env *testenv.Environment

// The manager of these tests has every feature on and all flags at their defaults.
//
// Conformance: MG-33
func TestMain(m *testing.M) {
	os.Exit(testenv.Main(m, &env, testenv.Options{
		Files:        []fs.FS{config.Files},
		Restricted:   true,
		AddToScheme:  []func(*runtime.Scheme) error{clusterv1.AddToScheme, addonsv1.AddToScheme, ipamv1.AddToScheme, runtimev1.AddToScheme},
		KeepFieldsOf: topology.FieldOwner,
		Manager: func(ctx context.Context, mgr ctrl.Manager) error {
			flags, o, set := manager.NewFlags(), &options{}, pflag.NewFlagSet("test", pflag.ContinueOnError)
			flags.AddTo(set)
			o.addTo(set)
			if err := set.Parse(nil); err != nil {
				return err
			}
			for name := range flags.Features {
				flags.Features[name] = true
			}
			if err := o.validate(); err != nil {
				return err
			}
			if err := o.setup(ctx, mgr, flags); err != nil {
				return err
			}
			return webhooks.SetupWithManager(mgr, flags)
		},
	}))
}

// Conformance: RT-10
func TestTheManagerRunsWithEveryFeature(t *testing.T) {
	c := &runtimev1.ExtensionConfig{ObjectMeta: metav1.ObjectMeta{Name: "local"}}
	c.Spec.ClientConfig.URL = "https://localhost:8443"
	require.NoError(t, env.Client.Create(t.Context(), c))
	require.Eventually(t, func() bool {
		return env.Client.Get(t.Context(), client.ObjectKeyFromObject(c), c) == nil && conditions.IsFalse(c, runtimev1.ExtensionConfigDiscoveredCondition)
	}, time.Minute, 20*time.Millisecond)
	assert.Equal(t, "the manager does not connect to its address: it is a loopback address", conditions.Message(c, runtimev1.ExtensionConfigDiscoveredCondition))
}
