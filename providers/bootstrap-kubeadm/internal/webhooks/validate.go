package webhooks

import (
	"fmt"
	"reflect"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/internal/ignition"
	"github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/internal/token"
)

func validateSpec(spec *bootstrapv1.KubeadmConfigSpec, path *field.Path, options Options) field.ErrorList {
	problems := validateFiles(spec.Files, path.Child("files"))
	problems = append(problems, validateUsers(spec.Users, path.Child("users"))...)
	problems = append(problems, validateDisks(spec.DiskSetup.Partitions, path.Child("diskSetup", "partitions"))...)
	user := spec.JoinConfiguration.Discovery.File.KubeConfig.User
	if isSet(user.AuthProvider) && isSet(user.Exec) {
		problems = append(problems, field.Invalid(path.Child("joinConfiguration", "discovery", "file", "kubeConfig", "user"), user.Exec.Command,
			"authProvider and exec are two ways to do the same; set one of them"))
	}
	problems = append(problems, validateTokens(spec, path)...)
	return append(problems, validateFormat(spec, path, options)...)
}

// validateTokens refuses what kubeadm would not take. A token is a secret, so the answer does not repeat it.
func validateTokens(spec *bootstrapv1.KubeadmConfigSpec, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	check := func(text string, at *field.Path) {
		if _, _, err := token.Split(text); err != nil {
			problems = append(problems, field.Invalid(at, "(not shown)", err.Error()))
		}
	}
	for i, t := range spec.InitConfiguration.BootstrapTokens {
		check(t.Token, path.Child("initConfiguration", "bootstrapTokens").Index(i).Child("token"))
	}
	if t := spec.JoinConfiguration.Discovery.BootstrapToken.Token; t != "" {
		check(t, path.Child("joinConfiguration", "discovery", "bootstrapToken", "token"))
	}
	return problems
}

// validateFormat: Ignition is behind a gate, and cannot say all that cloud-config can.
func validateFormat(spec *bootstrapv1.KubeadmConfigSpec, path *field.Path, options Options) field.ErrorList {
	const gate = "needs the feature gate KubeadmBootstrapFormatIgnition"
	var problems field.ErrorList
	switch {
	case !options.Ignition:
		if spec.Format == bootstrapv1.Ignition {
			problems = append(problems, field.Forbidden(path.Child("format"), gate))
		}
		if isSet(spec.Ignition) {
			problems = append(problems, field.Forbidden(path.Child("ignition"), gate))
		}
	case spec.Format == bootstrapv1.Ignition:
		problems = ignition.Validate(spec, path)
	case isSet(spec.Ignition):
		problems = append(problems, field.Invalid(path.Child("format"), spec.Format, "must be ignition, since the field ignition is set"))
	}
	return problems
}

func validateFiles(files []bootstrapv1.File, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	first := map[string]int{}
	for i, f := range files {
		at := path.Index(i)
		if f.Content != "" && isSet(f.ContentFrom) {
			problems = append(problems, field.Invalid(at, f.Path, "content and contentFrom exclude each other; set one of them"))
		}
		problems = append(problems, validateSource(f.ContentFrom, at.Child("contentFrom"))...)
		if earlier, ok := first[f.Path]; ok {
			problems = append(problems, field.Invalid(at.Child("path"), f.Path, fmt.Sprintf("files[%d] has the same path; each file is written once", earlier)))
		} else {
			first[f.Path] = i
		}
	}
	return problems
}

func validateUsers(users []bootstrapv1.User, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	for i, u := range users {
		if u.Passwd != "" && isSet(u.PasswdFrom) {
			problems = append(problems, field.Invalid(path.Index(i), u.Name, "passwd and passwdFrom exclude each other; set one of them"))
		}
		problems = append(problems, validateSource(u.PasswdFrom, path.Index(i).Child("passwdFrom"))...)
	}
	return problems
}

func validateSource(source bootstrapv1.FileSource, path *field.Path) field.ErrorList {
	if !isSet(source) {
		return nil
	}
	var problems field.ErrorList
	if source.Secret.Name == "" {
		problems = append(problems, field.Required(path.Child("secret", "name"), "name the Secret"))
	}
	if source.Secret.Key == "" {
		problems = append(problems, field.Required(path.Child("secret", "key"), "name the key in the Secret"))
	}
	return problems
}

func validateDisks(partitions []bootstrapv1.Partition, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	for i, p := range partitions {
		sum := 0
		for _, part := range p.DiskLayout {
			sum += int(part.Percentage)
		}
		if sum > 100 {
			problems = append(problems, field.Invalid(path.Index(i).Child("diskLayout"), sum, "the percentages add up to more than the 100 that a disk has"))
		}
	}
	return problems
}

func validateMetadata(meta clusterv1.ObjectMeta, path *field.Path) field.ErrorList {
	return append(metav1validation.ValidateLabels(meta.Labels, path.Child("labels")),
		apivalidation.ValidateAnnotations(meta.Annotations, path.Child("annotations"))...)
}

func isSet(v any) bool { return !reflect.ValueOf(v).IsZero() }
