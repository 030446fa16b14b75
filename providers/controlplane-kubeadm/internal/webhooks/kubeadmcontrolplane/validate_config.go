package kubeadmcontrolplane

import (
	"reflect"
	"regexp"

	"k8s.io/apimachinery/pkg/util/validation/field"

	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
)

var imageTag = regexp.MustCompile(`^[\w][\w.-]{0,127}$`)

func isZero(value any) bool { return reflect.ValueOf(value).IsZero() }

// validateConfig refuses what the bootstrap provider would refuse in the configurations made from it: there it would
// come too late, when a machine is created.
func validateConfig(spec bootstrapv1.KubeadmConfigSpec, path *field.Path, options Options) field.ErrorList {
	problems := validateFiles(spec.Files, path.Child("files"))
	problems = append(problems, validateUsers(spec.Users, path.Child("users"))...)
	problems = append(problems, validateFormat(spec, path, options)...)
	for i, partition := range spec.DiskSetup.Partitions {
		sum := int32(0)
		for _, part := range partition.DiskLayout {
			sum += part.Percentage
		}
		if sum > 100 {
			problems = append(problems, field.Invalid(path.Child("diskSetup", "partitions").Index(i).Child("diskLayout"), sum,
				"the percentages add up to more than 100"))
		}
	}
	user := spec.JoinConfiguration.Discovery.File.KubeConfig.User
	if !isZero(user.AuthProvider) && !isZero(user.Exec) {
		problems = append(problems, field.Invalid(path.Child("joinConfiguration", "discovery", "file", "kubeconfig", "user"), "",
			"set authProvider or exec, not both"))
	}
	return append(problems, validateTimeouts(spec, path)...)
}

func validateTimeouts(spec bootstrapv1.KubeadmConfigSpec, path *field.Path) field.ErrorList {
	a := spec.InitConfiguration.Timeouts.ControlPlaneComponentHealthCheckSeconds
	b := spec.JoinConfiguration.Timeouts.ControlPlaneComponentHealthCheckSeconds
	if reflect.DeepEqual(a, b) {
		return nil
	}
	const text = "must be the same for init and join"
	return field.ErrorList{
		field.Invalid(path.Child("initConfiguration", "timeouts", "controlPlaneComponentHealthCheckSeconds"), number(a), text),
		field.Invalid(path.Child("joinConfiguration", "timeouts", "controlPlaneComponentHealthCheckSeconds"), number(b), text),
	}
}

func number(value *int32) any {
	if value == nil {
		return "unset"
	}
	return *value
}

func validateFiles(files []bootstrapv1.File, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	seen := map[string]bool{}
	for i, file := range files {
		if file.Content != "" && !isZero(file.ContentFrom) {
			problems = append(problems, field.Invalid(path.Index(i), file.Path, "set content or contentFrom, not both"))
		}
		if !isZero(file.ContentFrom) {
			problems = append(problems, validateSource(file.ContentFrom, path.Index(i).Child("contentFrom"))...)
		}
		if seen[file.Path] {
			problems = append(problems, field.Invalid(path.Index(i).Child("path"), file.Path, "another file has the same path"))
		}
		seen[file.Path] = true
	}
	return problems
}

func validateSource(source bootstrapv1.FileSource, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	if source.Secret.Name == "" {
		problems = append(problems, field.Required(path.Child("secret", "name"), "name the Secret"))
	}
	if source.Secret.Key == "" {
		problems = append(problems, field.Required(path.Child("secret", "key"), "name the key in the Secret"))
	}
	return problems
}

func validateUsers(users []bootstrapv1.User, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	for i, user := range users {
		if user.Passwd != "" && !isZero(user.PasswdFrom) {
			problems = append(problems, field.Invalid(path.Index(i), user.Name, "set passwd or passwdFrom, not both"))
		}
		if !isZero(user.PasswdFrom) {
			problems = append(problems, validateSource(user.PasswdFrom, path.Index(i).Child("passwdFrom"))...)
		}
	}
	return problems
}

const ignition = "ignition"

func validateFormat(spec bootstrapv1.KubeadmConfigSpec, path *field.Path, options Options) field.ErrorList {
	var problems field.ErrorList
	if !options.Ignition {
		if spec.Format == ignition {
			problems = append(problems, field.Forbidden(path.Child("format"), "needs feature gate KubeadmBootstrapFormatIgnition"))
		}
		if !isZero(spec.Ignition) {
			problems = append(problems, field.Forbidden(path.Child("ignition"), "needs feature gate KubeadmBootstrapFormatIgnition"))
		}
		return problems
	}
	if spec.Format != ignition {
		if !isZero(spec.Ignition) {
			problems = append(problems, field.Invalid(path.Child("format"), spec.Format, "must be ignition when ignition is set"))
		}
		return problems
	}
	return validateIgnition(spec, path)
}

// validateIgnition refuses what cannot be said in Ignition's format.
func validateIgnition(spec bootstrapv1.KubeadmConfigSpec, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	unsupported := func(p *field.Path) {
		problems = append(problems, field.Forbidden(p, "is not supported with format ignition"))
	}
	if len(spec.BootCommands) > 0 {
		unsupported(path.Child("bootCommands"))
	}
	for i, user := range spec.Users {
		if user.Inactive != nil && *user.Inactive {
			unsupported(path.Child("users").Index(i).Child("inactive"))
		}
	}
	for i, file := range spec.Files {
		if file.Encoding == "gzip" || file.Encoding == "gzip+base64" {
			unsupported(path.Child("files").Index(i).Child("encoding"))
		}
	}
	for i, partition := range spec.DiskSetup.Partitions {
		if partition.TableType != "" && partition.TableType != "gpt" {
			problems = append(problems, field.Invalid(path.Child("diskSetup", "partitions").Index(i).Child("tableType"),
				partition.TableType, "must be gpt with format ignition"))
		}
	}
	for i, filesystem := range spec.DiskSetup.Filesystems {
		if filesystem.ReplaceFS != "" {
			unsupported(path.Child("diskSetup", "filesystems").Index(i).Child("replaceFS"))
		}
		if filesystem.Partition != "" {
			unsupported(path.Child("diskSetup", "filesystems").Index(i).Child("partition"))
		}
	}
	return problems
}
