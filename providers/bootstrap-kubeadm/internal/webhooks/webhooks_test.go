package webhooks

import (
	"context"
	"os"
	"testing"

	"io/fs"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/testenv"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/config"
)

var env *testenv.Environment

func TestMain(m *testing.M) {
	os.Exit(testenv.Main(m, &env, testenv.Options{
		Files: []fs.FS{config.Files}, AddToScheme: []func(*runtime.Scheme) error{bootstrapv1.AddToScheme},
		Manager: func(_ context.Context, mgr ctrl.Manager) error { return Register(mgr, Options{}) },
	}))
}

type spec = bootstrapv1.KubeadmConfigSpec

func secret(name, key string) bootstrapv1.FileSource {
	return bootstrapv1.FileSource{Secret: bootstrapv1.SecretKeySource{Name: name, Key: key}}
}

func layout(percentages ...int32) bootstrapv1.Partition {
	p := bootstrapv1.Partition{Device: "/dev/sdb"}
	for _, n := range percentages {
		p.DiskLayout = append(p.DiskLayout, bootstrapv1.PartitionDiskLayout{Percentage: n})
	}
	return p
}

func discovery(edit func(*bootstrapv1.FileDiscoveryKubeConfigUser)) spec {
	var s spec
	s.JoinConfiguration.Discovery.File.KubeConfigPath = "/k"
	edit(&s.JoinConfiguration.Discovery.File.KubeConfig.User)
	return s
}

func ptr[T any](v T) *T { return &v }

var gate = Options{Ignition: true}

func ignited(edit func(*spec)) spec {
	s := spec{Format: bootstrapv1.Ignition}
	if edit != nil {
		edit(&s)
	}
	return s
}

func additional(config string) spec {
	return ignited(func(s *spec) { s.Ignition.ContainerLinuxConfig.AdditionalConfig = config })
}

var rows = []struct {
	name string
	spec spec
	// want are the fields of the problems; none means that the object is admitted.
	want    []string
	options Options
}{
	{"a file with two contents", spec{Files: []bootstrapv1.File{{Path: "/a"}, {Path: "/b", Content: "x", ContentFrom: secret("s", "k")}}}, []string{"files[1]"}, Options{}},
	{"two files with one path", spec{Files: []bootstrapv1.File{{Path: "/a"}, {Path: "/b"}, {Path: "/a"}}}, []string{"files[2].path"}, Options{}},
	{"a content without a Secret", spec{Files: []bootstrapv1.File{{Path: "/a", ContentFrom: secret("", "k")}}}, []string{"files[0].contentFrom.secret.name"}, Options{}},
	{"a content without a key", spec{Files: []bootstrapv1.File{{Path: "/a", ContentFrom: secret("s", "")}}}, []string{"files[0].contentFrom.secret.key"}, Options{}},
	{"a content from a Secret", spec{Files: []bootstrapv1.File{{Path: "/a", ContentFrom: secret("s", "k")}}}, nil, Options{}},
	{"a user with two passwords", spec{Users: []bootstrapv1.User{{Name: "u", Passwd: "x", PasswdFrom: secret("s", "k")}}}, []string{"users[0]"}, Options{}},
	{"a password without a key", spec{Users: []bootstrapv1.User{{Name: "u", PasswdFrom: secret("s", "")}}}, []string{"users[0].passwdFrom.secret.key"}, Options{}},
	{"more than a disk", spec{DiskSetup: bootstrapv1.DiskSetup{Partitions: []bootstrapv1.Partition{layout(100), layout(60, 41)}}}, []string{"diskSetup.partitions[1].diskLayout"}, Options{}},
	{"a whole disk", spec{DiskSetup: bootstrapv1.DiskSetup{Partitions: []bootstrapv1.Partition{layout(60, 40)}}}, nil, Options{}},
	{"two ways to authenticate", discovery(func(u *bootstrapv1.FileDiscoveryKubeConfigUser) { u.AuthProvider.Name, u.Exec.Command = "a", "b" }), []string{"joinConfiguration.discovery.file.kubeConfig.user"}, Options{}},
	{"one way to authenticate", discovery(func(u *bootstrapv1.FileDiscoveryKubeConfigUser) { u.Exec.Command = "b" }), nil, Options{}},
	{"a malformed token of init", spec{InitConfiguration: bootstrapv1.InitConfiguration{BootstrapTokens: []bootstrapv1.BootstrapToken{{Token: "abcdef.0123456789abcdef"}, {Token: "ABC"}}}}, []string{"initConfiguration.bootstrapTokens[1].token"}, Options{}},
	{"a malformed token of join", spec{JoinConfiguration: bootstrapv1.JoinConfiguration{Discovery: bootstrapv1.Discovery{BootstrapToken: bootstrapv1.BootstrapTokenDiscovery{Token: "x"}}}}, []string{"joinConfiguration.discovery.bootstrapToken.token"}, Options{}},
	{"format ignition", spec{Format: bootstrapv1.Ignition}, []string{"format"}, Options{}},
	{"ignition's own fields", spec{Ignition: bootstrapv1.IgnitionSpec{ContainerLinuxConfig: bootstrapv1.IgnitionContainerLinuxConfig{AdditionalConfig: "x"}}}, []string{"ignition"}, Options{}},
	{"Ignition", ignited(nil), nil, gate},
	{"Ignition's own fields without its format", spec{Ignition: additional("systemd: {}").Ignition}, []string{"format"}, gate},
	{"Ignition: what it cannot do", ignited(func(s *spec) {
		s.BootCommands = []string{"x"}
		s.Users = []bootstrapv1.User{{Name: "u", Inactive: ptr(true)}, {Name: "v", Inactive: ptr(false)}, {Name: "a b"}}
		s.Files = []bootstrapv1.File{{Path: "/a", Encoding: "gzip"}, {Path: "/b", Encoding: "gzip+base64"}, {Path: "/c", Encoding: "base64", Content: "eA=="}, {Path: "d"}}
	}), []string{"bootCommands", "users[0].inactive", "users[2].name", "files[0].encoding", "files[1].encoding", "files[3]"}, gate},
	{"Ignition: disks", ignited(func(s *spec) {
		s.DiskSetup.Partitions = []bootstrapv1.Partition{{Device: "/dev/a", TableType: "mbr"}, {Device: "/dev/b", TableType: "gpt"}, layout(50, 50), {Device: "/dev/b"}}
		s.DiskSetup.Filesystems = []bootstrapv1.Filesystem{{Device: "/dev/c", Filesystem: "ext4", Label: "x", Partition: "auto"}, {Device: "/dev/d", Filesystem: "ext4", ReplaceFS: "xfs"}}
		s.Mounts = [][]string{{"x", "/m"}, {"x"}, {"y", "/n"}}
	}), []string{"diskSetup.partitions[0].tableType", "diskSetup.partitions[2].diskLayout", "diskSetup.partitions[3].device", "diskSetup.filesystems[0].partition", "diskSetup.filesystems[1].replaceFS", "mounts[1]", "mounts[2]"}, gate},
	{"Ignition: additional config", additional("systemd: {units: [{name: x}]}"), []string{"ignition.containerLinuxConfig.additionalConfig"}, gate},
	{"Ignition: a format that nothing makes", ignited(func(s *spec) {
		s.DiskSetup.Filesystems = []bootstrapv1.Filesystem{{Device: "/dev/c", Filesystem: "ntfs"}}
	}), []string{"ignition"}, gate},
	{"format cloud-config", spec{Format: bootstrapv1.CloudConfig}, nil, Options{}},
}

func TestRules(t *testing.T) {
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			config := &bootstrapv1.KubeadmConfig{Spec: row.spec}
			_, err := configs(row.options).ValidateCreate(t.Context(), config)
			assert.Equal(t, prefixed("spec.", row.want), problems(err))
			_, err = configs(row.options).ValidateUpdate(t.Context(), &bootstrapv1.KubeadmConfig{}, config)
			assert.Equal(t, prefixed("spec.", row.want), problems(err))
			_, err = configs(row.options).ValidateUpdate(t.Context(), config, config)
			require.NoError(t, err, "what does not change the spec is not judged")
			template := &bootstrapv1.KubeadmConfigTemplate{}
			template.Spec.Template.Spec = row.spec
			_, err = templates(row.options).ValidateCreate(t.Context(), template)
			assert.Equal(t, prefixed("spec.template.spec.", row.want), problems(err))
		})
	}
}

func prefixed(prefix string, fields []string) []string {
	var out []string
	for _, f := range fields {
		out = append(out, prefix+f)
	}
	return out
}

func problems(err error) []string {
	var out []string
	if status, ok := err.(interface{ Status() metav1.Status }); ok {
		for _, cause := range status.Status().Details.Causes {
			out = append(out, cause.Field)
		}
	}
	return out
}

func TestLabelsOfTemplates(t *testing.T) {
	template := &bootstrapv1.KubeadmConfigTemplate{}
	template.Spec.Template.Metadata = clusterv1.ObjectMeta{Labels: map[string]string{"a": "not a value!"}, Annotations: map[string]string{"not a key!": "x"}}
	_, err := templates(Options{}).ValidateCreate(t.Context(), template)
	assert.Equal(t, []string{"spec.template.metadata.labels", "spec.template.metadata.annotations"}, problems(err))
}

func TestOldDefaultsOnlyWhereATopologyTries(t *testing.T) {
	yes, no := true, false
	annotation := map[string]string{clusterv1.TopologyDryRunAnnotation: ""}
	for _, c := range []struct {
		name        string
		annotations map[string]string
		dryRun      *bool
		want        bool
	}{{"trial", annotation, &yes, true}, {"stored", annotation, &no, false}, {"other dry run", nil, &yes, false}, {"no annotation", nil, nil, false}} {
		t.Run(c.name, func(t *testing.T) {
			template := &bootstrapv1.KubeadmConfigTemplate{ObjectMeta: metav1.ObjectMeta{Annotations: c.annotations}}
			template.Spec.Template.Spec = discovery(func(u *bootstrapv1.FileDiscoveryKubeConfigUser) { u.Exec.Command = "b" })
			ctx := admission.NewContextWithRequest(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{DryRun: c.dryRun}})
			require.NoError(t, templateDefaults{}.Default(ctx, template))
			s := template.Spec.Template.Spec
			got := []string{s.Format, s.InitConfiguration.NodeRegistration.ImagePullPolicy, s.JoinConfiguration.NodeRegistration.ImagePullPolicy, s.JoinConfiguration.Discovery.File.KubeConfig.User.Exec.APIVersion}
			want := []string{"", "", "", ""}
			if c.want {
				want = []string{"cloud-config", "IfNotPresent", "IfNotPresent", "client.authentication.k8s.io/v1"}
			}
			assert.Equal(t, want, got)
		})
	}
}

func TestInstalledWebhooks(t *testing.T) {
	namespace := env.Namespace(t)
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "bad"}
	bad := spec{Files: []bootstrapv1.File{{Path: "/a", Content: "x"}, {Path: "/a", Content: "x"}}}
	for _, obj := range []client.Object{
		&bootstrapv1.KubeadmConfig{ObjectMeta: meta, Spec: bad},
		&bootstrapv1.KubeadmConfigTemplate{ObjectMeta: meta, Spec: bootstrapv1.KubeadmConfigTemplateSpec{Template: bootstrapv1.KubeadmConfigTemplateTemplate{Spec: bad}}},
	} {
		err := env.Client.Create(t.Context(), obj)
		require.ErrorContains(t, err, "files[1].path")
	}
	token := spec{InitConfiguration: bootstrapv1.InitConfiguration{BootstrapTokens: []bootstrapv1.BootstrapToken{{Token: "not a token"}}}}
	require.ErrorContains(t, env.Client.Create(t.Context(), &bootstrapv1.KubeadmConfig{ObjectMeta: meta, Spec: token}), "bootstrapTokens[0].token")
	good := &bootstrapv1.KubeadmConfigTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "good"}}
	good.Spec.Template.Spec.PreKubeadmCommands = []string{"echo"}
	require.NoError(t, env.Client.Create(t.Context(), good))
	good.Annotations = map[string]string{clusterv1.TopologyDryRunAnnotation: ""}
	require.NoError(t, env.Client.Update(t.Context(), good, client.DryRunAll))
	assert.Equal(t, "cloud-config", good.Spec.Template.Spec.Format)
}
