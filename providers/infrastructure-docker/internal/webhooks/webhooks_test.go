package webhooks

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/manager"
	infrav1 "github.com/slipway-capi/slipway/providers/infrastructure-docker/api/v1beta2"
)

func domains(names ...string) infrav1.DevClusterSpec {
	d := &infrav1.DockerClusterBackend{}
	for _, n := range names {
		d.FailureDomains = append(d.FailureDomains, clusterv1.FailureDomain{Name: n})
	}
	return infrav1.DevClusterSpec{Backend: infrav1.DevClusterBackend{Docker: d}}
}

func component(duration time.Duration, jitter string) *infrav1.InMemoryComponent {
	return &infrav1.InMemoryComponent{Provisioning: infrav1.InMemoryProvisioning{StartupDuration: metav1.Duration{Duration: duration}, StartupJitter: jitter}}
}

func simulated(vm *infrav1.InMemoryComponent) infrav1.DevMachineSpec {
	return infrav1.DevMachineSpec{Backend: infrav1.DevMachineBackend{InMemory: &infrav1.InMemoryMachineBackend{VM: vm}}}
}

func image(name string) infrav1.DevMachineSpec {
	return infrav1.DevMachineSpec{Backend: infrav1.DevMachineBackend{Docker: &infrav1.DockerMachineBackend{CustomImage: name}}}
}

func TestDefaults(t *testing.T) {
	ctx := context.Background()
	c := &infrav1.DevCluster{}
	require.NoError(t, devCluster().Default(ctx, c))
	assert.NotNil(t, c.Spec.Backend.Docker, "containers are the default")
	assert.EqualValues(t, 6443, c.Spec.ControlPlaneEndpoint.Port)

	c = &infrav1.DevCluster{Spec: domains("a")}
	require.NoError(t, devCluster().Default(ctx, c))
	require.NotNil(t, c.Spec.Backend.Docker.FailureDomains[0].ControlPlane)
	assert.False(t, *c.Spec.Backend.Docker.FailureDomains[0].ControlPlane)

	c = &infrav1.DevCluster{Spec: infrav1.DevClusterSpec{Backend: infrav1.DevClusterBackend{InMemory: &infrav1.InMemoryClusterBackend{}}}}
	want := c.DeepCopy()
	require.NoError(t, devCluster().Default(ctx, c))
	assert.Equal(t, want, c, "simulated clusters choose their port themselves")

	m := &infrav1.DevMachine{}
	require.NoError(t, devMachine().Default(ctx, m))
	assert.Equal(t, 5*time.Minute, m.Spec.Backend.Docker.BootstrapTimeout.Duration)

	p := &infrav1.DevMachinePool{}
	require.NoError(t, devMachinePool().Default(ctx, p))
	assert.NotNil(t, p.Spec.Backend.Docker)

	now := metav1.Now()
	going := &infrav1.DevMachine{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now}}
	require.NoError(t, devMachine().Default(ctx, going))
	assert.Nil(t, going.Spec.Backend.Docker, "an object that goes is left alone")
}

func TestClusters(t *testing.T) {
	both := domains()
	both.Backend.InMemory = &infrav1.InMemoryClusterBackend{}
	for _, c := range []struct {
		name string
		spec infrav1.DevClusterSpec
		want string
	}{
		{"docker", domains(), ""},
		{"sorted failure domains", domains("a", "b"), ""},
		{"unsorted failure domains", domains("b", "a"), "spec.backend.docker.failureDomains[1].name"},
		{"twice the same failure domain", domains("a", "a"), "spec.backend.docker.failureDomains[1].name"},
		{"two backends", both, "spec.backend: Forbidden"},
		{"no backend", infrav1.DevClusterSpec{}, "spec.backend: Required"},
	} {
		_, err := devCluster().ValidateCreate(context.Background(), &infrav1.DevCluster{Spec: c.spec})
		check(t, c.name, err, c.want)
	}
	template := &infrav1.DevClusterTemplate{}
	template.Spec.Template.Spec = domains()
	for enabled, want := range map[bool]string{true: "", false: "needs the feature gate ClusterTopology"} {
		rules := devClusterTemplate(manager.Features{manager.FeatureClusterTopology: enabled})
		_, err := rules.ValidateCreate(context.Background(), template)
		check(t, "gate", err, want)
	}
}

func TestMachines(t *testing.T) {
	both, instant := image(""), image("")
	both.Backend.InMemory = &infrav1.InMemoryMachineBackend{}
	instant.Backend.Docker.BootstrapTimeout = &metav1.Duration{}
	for _, c := range []struct {
		name string
		spec infrav1.DevMachineSpec
		want string
	}{
		{"docker", image("a"), ""},
		{"in memory", simulated(nil), ""},
		{"jitter", simulated(component(time.Second, "0.2")), ""},
		{"whole jitter", simulated(component(0, "1")), ""},
		{"jitter in words", simulated(component(time.Second, "some")), "inMemory.vm.provisioning.startupJitter"},
		{"negative jitter", simulated(component(time.Second, "-0.2")), "inMemory.vm.provisioning.startupJitter"},
		{"infinite jitter", simulated(component(time.Second, "Inf")), "inMemory.vm.provisioning.startupJitter"},
		{"hexadecimal jitter", simulated(component(time.Second, "0x1p2")), "inMemory.vm.provisioning.startupJitter"},
		{"negative duration", simulated(component(-time.Second, "")), "inMemory.vm.provisioning.startupDuration"},
		{"no time to bootstrap", instant, "docker.bootstrapTimeout"},
		{"two backends", both, "spec.backend: Forbidden"},
		{"no backend", infrav1.DevMachineSpec{}, "spec.backend: Required"},
	} {
		_, err := devMachine().ValidateCreate(context.Background(), &infrav1.DevMachine{Spec: c.spec})
		check(t, c.name, err, c.want)
	}
}

func TestImageStays(t *testing.T) {
	now := metav1.Now()
	machine := func(image_ string) *infrav1.DevMachine { return &infrav1.DevMachine{Spec: image(image_)} }
	going, labelled, named := machine("b"), machine("a"), machine("a")
	going.DeletionTimestamp, labelled.Labels, named.Spec.ProviderID = &now, map[string]string{"a": "b"}, "docker:////x"
	for _, c := range []struct {
		name  string
		after *infrav1.DevMachine
		want  string
	}{
		{"another image", machine("b"), "customImage"},
		{"no image", machine(""), "customImage"},
		{"in deletion", going, ""},
		{"labels", labelled, ""},
		{"provider id", named, ""},
	} {
		_, err := devMachine().ValidateUpdate(context.Background(), machine("a"), c.after)
		check(t, c.name, err, c.want)
	}
}

func TestTemplatesStay(t *testing.T) {
	template := func(name string, annotations map[string]string) *infrav1.DevMachineTemplate {
		out := &infrav1.DevMachineTemplate{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}}
		out.Spec.Template.Spec = image(name)
		return out
	}
	try := map[string]string{clusterv1.TopologyDryRunAnnotation: ""}
	defaulted := template("a", nil)
	defaultMachine(&defaulted.Spec.Template.Spec)
	metadata := template("a", nil)
	metadata.Spec.Template.Metadata.Labels = map[string]string{"a": "b"}
	defaultMachine(&metadata.Spec.Template.Spec)
	for _, c := range []struct {
		name   string
		after  *infrav1.DevMachineTemplate
		dryRun bool
		want   string
	}{
		{"another image", template("b", nil), false, "spec.template.spec: Forbidden"},
		{"another image in anybody's dry run", template("b", nil), true, "spec.template.spec: Forbidden"},
		{"another image with the annotation", template("b", try), false, "spec.template.spec: Forbidden"},
		{"another image in the topology's dry run", template("b", try), true, ""},
		{"defaults of a later version", defaulted, false, ""},
		{"metadata of the template", metadata, false, ""},
	} {
		ctx := admission.NewContextWithRequest(context.Background(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{DryRun: &c.dryRun}})
		_, err := devMachineTemplate().ValidateUpdate(ctx, template("a", nil), c.after)
		check(t, c.name, err, c.want)
	}
	before, after := &infrav1.DevMachinePoolTemplate{}, &infrav1.DevMachinePoolTemplate{}
	after.Spec.Template.Spec.ProviderID = "x"
	_, err := devMachinePoolTemplate().ValidateUpdate(context.Background(), before, after)
	check(t, "pool template", err, "spec.template.spec: Forbidden")
}

func check(t *testing.T, name string, err error, want string) {
	t.Helper()
	if want == "" {
		assert.NoError(t, err, name)
		return
	}
	assert.True(t, apierrors.IsInvalid(err), name)
	assert.ErrorContains(t, err, want, name)
}

func TestFaultPlansAreJudged(t *testing.T) {
	cluster := func(plan string, docker bool) *infrav1.DevCluster {
		c := &infrav1.DevCluster{}
		c.Annotations = map[string]string{infrav1.FaultsAnnotation: plan}
		if docker {
			c.Spec.Backend.Docker = &infrav1.DockerClusterBackend{}
		} else {
			c.Spec.Backend.InMemory = &infrav1.InMemoryClusterBackend{}
		}
		return c
	}
	_, err := devCluster().ValidateCreate(context.Background(), cluster(`{"errorRate":0.1}`, false))
	require.NoError(t, err)
	_, err = devCluster().ValidateUpdate(context.Background(), cluster("", false), cluster(`{"errorRate":7}`, false))
	check(t, "a share above 1", err, "metadata.annotations[inmemorycluster.infrastructure.cluster.x-k8s.io/faults]: Invalid")
	_, err = devCluster().ValidateCreate(context.Background(), cluster("{}", true))
	check(t, "faults of containers", err, "metadata.annotations[inmemorycluster.infrastructure.cluster.x-k8s.io/faults]: Forbidden")
}

func TestPoolsHaveOneBackend(t *testing.T) {
	both := &infrav1.DevMachinePool{Spec: infrav1.DevMachinePoolSpec{Backend: &infrav1.DevMachinePoolBackend{Docker: &infrav1.DevMachinePoolBackendDocker{}, InMemory: &infrav1.DevMachinePoolBackendInMemory{}}}}
	_, err := devMachinePool().ValidateCreate(context.Background(), both)
	check(t, "two backends", err, "spec.backend: Forbidden")
	jitter := &infrav1.DevMachinePool{Spec: infrav1.DevMachinePoolSpec{Backend: &infrav1.DevMachinePoolBackend{InMemory: &infrav1.DevMachinePoolBackendInMemory{
		VM: &infrav1.InMemoryComponent{Provisioning: infrav1.InMemoryProvisioning{StartupJitter: "much"}}}}}}
	_, err = devMachinePool().ValidateCreate(context.Background(), jitter)
	check(t, "a jitter that is no number", err, "spec.backend.inMemory.vm.provisioning.startupJitter: Invalid")
	simulated := &infrav1.DevMachinePool{Spec: infrav1.DevMachinePoolSpec{Backend: &infrav1.DevMachinePoolBackend{InMemory: &infrav1.DevMachinePoolBackendInMemory{}}}}
	require.NoError(t, devMachinePool().Default(context.Background(), simulated))
	require.Nil(t, simulated.Spec.Backend.Docker, "nothing is chosen for who has chosen")
}
