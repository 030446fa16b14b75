package ignition

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/internal/firstboot"
)

// Validate says what of a spec cannot be said in Ignition's format. Contents that come from Secrets are judged when they are
// known.
func Validate(spec *bootstrapv1.KubeadmConfigSpec, path *field.Path) field.ErrorList {
	const reason = "is not available with format ignition"
	var problems field.ErrorList
	if len(spec.BootCommands) > 0 {
		problems = append(problems, field.Forbidden(path.Child("bootCommands"), reason+"; use preKubeadmCommands or a unit"))
	}
	for i, u := range spec.Users {
		at := path.Child("users").Index(i)
		if isTrue(u.Inactive) {
			problems = append(problems, field.Forbidden(at.Child("inactive"), reason))
		}
		if !userName.MatchString(u.Name) {
			problems = append(problems, field.Invalid(at.Child("name"), u.Name, "must be letters, digits, _, . and -, and not start with a digit"))
		}
	}
	for i, f := range spec.Files {
		at := path.Child("files").Index(i)
		if f.Encoding == bootstrapv1.Gzip || f.Encoding == bootstrapv1.GzipBase64 {
			problems = append(problems, field.Forbidden(at.Child("encoding"), reason+"; use base64"))
			continue
		}
		if f.ContentFrom != (bootstrapv1.FileSource{}) || f.ContentFormat == bootstrapv1.FileContentFormatTemplate {
			f.Content, f.Encoding = "", ""
		}
		if _, err := fileOf(f); err != nil {
			problems = append(problems, field.Invalid(at, f.Path, err.Error()))
		}
	}
	problems = append(problems, validateStorage(spec, path)...)
	if len(problems) > 0 {
		return problems
	}
	return validateWhole(spec, path)
}

func validateStorage(spec *bootstrapv1.KubeadmConfigSpec, path *field.Path) field.ErrorList {
	const reason = "is not available with format ignition"
	var problems field.ErrorList
	seen, setup := map[string]bool{}, path.Child("diskSetup")
	for i, p := range spec.DiskSetup.Partitions {
		at := setup.Child("partitions").Index(i)
		if p.TableType != "" && p.TableType != "gpt" {
			problems = append(problems, field.Invalid(at.Child("tableType"), p.TableType, "must be gpt with format ignition"))
		}
		if _, err := diskOf(p); err != nil {
			problems = append(problems, field.Invalid(at.Child("diskLayout"), len(p.DiskLayout), err.Error()))
		}
		if seen[p.Device] {
			problems = append(problems, field.Duplicate(at.Child("device"), p.Device))
		}
		seen[p.Device] = true
	}
	for i, f := range spec.DiskSetup.Filesystems {
		at := setup.Child("filesystems").Index(i)
		if f.Partition != "" {
			problems = append(problems, field.Forbidden(at.Child("partition"), reason+"; name the partition's device"))
		}
		if f.ReplaceFS != "" {
			problems = append(problems, field.Forbidden(at.Child("replaceFS"), reason))
		}
	}
	p := &plan{}
	_ = p.addStorage(bootstrapv1.DiskSetup{Filesystems: spec.DiskSetup.Filesystems}, nil) // fails for nothing but mounts and partitions
	for i, m := range spec.Mounts {
		if _, err := p.mount(m); err != nil {
			problems = append(problems, field.Invalid(path.Child("mounts").Index(i), m, err.Error()))
		}
	}
	return problems
}

// validateWhole writes the document as far as it is known, and so finds what Ignition itself refuses.
func validateWhole(spec *bootstrapv1.KubeadmConfigSpec, path *field.Path) field.ErrorList {
	config := path.Child("ignition", "containerLinuxConfig", "additionalConfig")
	if _, _, err := Render(firstboot.Input{}, spec.Ignition); err != nil {
		return field.ErrorList{field.Invalid(config, "(not shown)", err.Error())}
	}
	in := firstboot.Input{Users: spec.Users, NTP: spec.NTP, Disks: spec.DiskSetup, Mounts: spec.Mounts}
	if _, _, err := Render(in, spec.Ignition); err != nil {
		return field.ErrorList{field.Invalid(path.Child("ignition"), "(not shown)", err.Error())}
	}
	return nil
}
