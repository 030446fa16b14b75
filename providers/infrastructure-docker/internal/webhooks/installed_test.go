package webhooks_test

import (
	"context"
	"io/fs"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/manager"
	"github.com/slipway-capi/slipway/contract/testenv"
	infrav1 "github.com/slipway-capi/slipway/providers/infrastructure-docker/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/config"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/webhooks"
)

var env *testenv.Environment

func TestMain(m *testing.M) {
	os.Exit(testenv.Main(m, &env, testenv.Options{
		Files:       []fs.FS{config.Files},
		AddToScheme: []func(*runtime.Scheme) error{clusterv1.AddToScheme, infrav1.AddToScheme},
		Manager: func(_ context.Context, mgr ctrl.Manager) error {
			flags := manager.NewFlags()
			flags.Features[manager.FeatureClusterTopology] = true
			return webhooks.SetupWithManager(mgr, flags)
		},
	}))
}

// object writes only what a user writes, so that defaults have to come before the schema is asked.
func object(namespace, kind string, spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	o.SetGroupVersionKind(infrav1.GroupVersion.WithKind(kind))
	o.SetNamespace(namespace)
	o.SetGenerateName("x-")
	return o
}

func TestInstalled(t *testing.T) {
	ctx, namespace := t.Context(), env.Namespace(t)
	none := map[string]any{}
	inTemplate := func(spec map[string]any) map[string]any {
		return map[string]any{"template": map[string]any{"spec": spec}}
	}
	for kind, spec := range map[string]map[string]any{
		"DevCluster": none, "DevMachine": none, "DevMachinePool": none,
		"DevClusterTemplate": inTemplate(none), "DevMachineTemplate": inTemplate(none), "DevMachinePoolTemplate": inTemplate(none),
	} {
		o := object(namespace, kind, spec)
		require.NoError(t, env.Client.Create(ctx, o), kind)
		path := []string{"spec", "backend", "docker"}
		if _, ok := spec["template"]; ok {
			path = []string{"spec", "template", "spec", "backend", "docker"}
		}
		_, found, err := unstructured.NestedMap(o.Object, path...)
		require.NoError(t, err, kind)
		assert.True(t, found, "%s has no default backend: %v", kind, o.Object["spec"])
		o.SetLabels(map[string]string{"a": "b"})
		require.NoError(t, env.Client.Update(ctx, o), "%s cannot be labelled", kind)
	}
}

func TestTemplateStaysAtTheServer(t *testing.T) {
	ctx, namespace := t.Context(), env.Namespace(t)
	template := &infrav1.DevMachineTemplate{}
	template.Namespace, template.Name = namespace, "t"
	template.Spec.Template.Spec.Backend.Docker = &infrav1.DockerMachineBackend{CustomImage: "a"}
	require.NoError(t, env.Client.Create(ctx, template))
	template.Spec.Template.Spec.Backend.Docker.CustomImage = "b"
	require.True(t, apierrors.IsInvalid(env.Client.Update(ctx, template.DeepCopy())))
	template.Annotations = map[string]string{clusterv1.TopologyDryRunAnnotation: ""}
	require.True(t, apierrors.IsInvalid(env.Client.Update(ctx, template.DeepCopy())))
	require.NoError(t, env.Client.Update(ctx, template, client.DryRunAll))
}
