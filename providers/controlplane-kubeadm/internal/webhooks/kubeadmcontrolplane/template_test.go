package kubeadmcontrolplane

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
)

type tpl = controlplanev1.KubeadmControlPlaneTemplate

func template() *tpl {
	t := &tpl{ObjectMeta: metav1.ObjectMeta{Name: "t"}}
	t.Spec.Template.Spec.KubeadmConfigSpec.ClusterConfiguration.ImageRepository = "r"
	return t
}

// Conformance: CP-92
func TestValidateTemplate(t *testing.T) {
	const spec = "spec.template.spec."
	for _, row := range []struct {
		name   string
		change func(*tpl)
		want   []string
	}{
		{"valid", func(*tpl) {}, nil},
		{"labels", func(t *tpl) { t.Spec.Template.Metadata.Labels = map[string]string{"a b": "c"} }, []string{"spec.template.metadata.labels"}},
		{"labels of machines", func(t *tpl) {
			t.Spec.Template.Spec.MachineTemplate.Metadata.Labels = map[string]string{"a b": "c"}
		}, []string{spec + "machineTemplate.metadata.labels"}},
		{"taints without gate", func(t *tpl) {
			t.Spec.Template.Spec.MachineTemplate.Spec.Taints = []clusterv1.MachineTaint{{Key: "a"}}
		}, []string{spec + "machineTemplate.spec.taints"}},
		{"surge", func(t *tpl) {
			two := intstr.FromInt32(2)
			t.Spec.Template.Spec.Rollout.Strategy.RollingUpdate.MaxSurge = &two
		}, []string{spec + "rollout.strategy.rollingUpdate.maxSurge"}},
		{"certificates would always expire soon, also without strategy", func(t *tpl) {
			t.Spec.Template.Spec.Rollout.Before.CertificatesExpiryDays = 30
			t.Spec.Template.Spec.KubeadmConfigSpec.ClusterConfiguration.CertificateValidityPeriodDays = 30
		}, []string{spec + "rollout.before.certificatesExpiryDays"}},
		{"name", func(t *tpl) { t.Spec.Template.Spec.MachineNaming.Template = "x" }, []string{spec + "machineNaming.template"}},
		{"files", func(t *tpl) {
			t.Spec.Template.Spec.KubeadmConfigSpec.Files = []bootstrapv1.File{{Path: "/a"}, {Path: "/a"}}
		}, []string{spec + "kubeadmConfigSpec.files[1].path"}},
		{"dns", func(t *tpl) { t.Spec.Template.Spec.KubeadmConfigSpec.ClusterConfiguration.DNS.ImageTag = "latest" },
			[]string{spec + "kubeadmConfigSpec.clusterConfiguration.dns.imageTag"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			made := template()
			row.change(made)
			assert.Equal(t, row.want, fields(t, func() error {
				_, err := TemplateWebhook{Options{ClusterTopology: true}}.ValidateCreate(t.Context(), made)
				return err
			}()))
		})
	}
}

func fields(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	status := apierrors.APIStatus(nil)
	require.ErrorAs(t, err, &status)
	var list []string
	for _, cause := range status.Status().Details.Causes {
		list = append(list, cause.Field)
	}
	return list
}

// Conformance: CP-92
func TestTemplatesNeedTheGate(t *testing.T) {
	_, err := TemplateWebhook{}.ValidateCreate(t.Context(), template())
	require.ErrorContains(t, err, "ClusterTopology")
	_, err = TemplateWebhook{}.ValidateUpdate(t.Context(), template(), template())
	require.NoError(t, err, "those that exist live on when the gate is turned off")
	_, err = TemplateWebhook{}.ValidateDelete(t.Context(), template())
	require.NoError(t, err)
}

// Conformance: CP-92
func TestTemplatesStayAsTheyAre(t *testing.T) {
	one, rolling := intstr.FromInt32(1), controlplanev1.RollingUpdateStrategyType
	for _, row := range []struct {
		name          string
		before, after func(*tpl)
		refused       bool
	}{
		{"nothing", func(*tpl) {}, func(*tpl) {}, false},
		{"metadata of the object", func(*tpl) {}, func(t *tpl) { t.Labels = map[string]string{"a": "b"} }, false},
		{"metadata of the pattern", func(*tpl) {}, func(t *tpl) { t.Spec.Template.Metadata.Labels = map[string]string{"a": "b"} }, false},
		{"repository", func(*tpl) {}, func(t *tpl) { t.Spec.Template.Spec.KubeadmConfigSpec.ClusterConfiguration.ImageRepository = "x" }, true},
		{"DNS counts as well", func(*tpl) {}, func(t *tpl) { t.Spec.Template.Spec.KubeadmConfigSpec.ClusterConfiguration.DNS.ImageTag = "v1.14.6" }, true},
		{"remediation", func(*tpl) {}, func(t *tpl) { t.Spec.Template.Spec.Remediation.MaxRetry = number32(1) }, true},
		{"old defaults", func(t *tpl) {
			t.Spec.Template.Spec.KubeadmConfigSpec.Format = "cloud-config"
			t.Spec.Template.Spec.Rollout.Strategy.Type, t.Spec.Template.Spec.Rollout.Strategy.RollingUpdate.MaxSurge = rolling, &one
		}, func(*tpl) {}, false},
		{"another surge is no default", func(t *tpl) { t.Spec.Template.Spec.Rollout.Strategy.Type = rolling }, func(t *tpl) {
			zero := intstr.FromInt32(0)
			t.Spec.Template.Spec.Rollout.Strategy.Type, t.Spec.Template.Spec.Rollout.Strategy.RollingUpdate.MaxSurge = rolling, &zero
		}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			before, after := template(), template()
			row.before(before)
			row.after(after)
			_, err := TemplateWebhook{}.ValidateUpdate(t.Context(), before, after)
			want := []string(nil)
			if row.refused {
				want = []string{"spec.template.spec"}
			}
			assert.Equal(t, want, fields(t, err))
		})
	}
}

func TestTopologiesMayTryAChange(t *testing.T) {
	before, after := template(), template()
	after.Spec.Template.Spec.KubeadmConfigSpec.ClusterConfiguration.ImageRepository = "x"
	dryRun := true
	try := admission.NewContextWithRequest(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{DryRun: &dryRun}})
	_, err := TemplateWebhook{}.ValidateUpdate(try, before, after)
	require.Error(t, err)
	after.Annotations = map[string]string{clusterv1.TopologyDryRunAnnotation: ""}
	_, err = TemplateWebhook{}.ValidateUpdate(try, before, after)
	require.NoError(t, err)
	_, err = TemplateWebhook{}.ValidateUpdate(t.Context(), before, after)
	require.Error(t, err, "not for good")
}
