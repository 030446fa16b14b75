package coredns

import (
	"errors"
	"fmt"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/coredns/corefile-migration/migration"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/image"
)

const (
	// Name is the name of the Deployment, its container and the ConfigMap.
	Name = "coredns"
	// CorefileKey and BackupKey are the keys of the ConfigMap that hold the present and the former Corefile.
	CorefileKey, BackupKey = "Corefile", "Corefile-backup"
	// Volume is the volume of the Deployment that shows one of the two keys as file.
	Volume = "config-volume"
)

// ErrDowngrade says that an older version of CoreDNS is wanted than the one that runs.
var ErrDowngrade = errors.New("CoreDNS cannot be downgraded")

// Wanted is the image that the user asks for; empty parts stay as they are.
type Wanted struct {
	Repository, Tag string
}

// Upgrade is what is to be done about CoreDNS.
type Upgrade struct {
	// Image is the new image.
	Image string
	// Former and Migrated are the Corefile before and after; equal if the new version reads the old one.
	Former, Migrated string
	// Mounted is set when the Deployment shows the Corefile through the known volume, so that it can be switched.
	Mounted bool
}

// Decide compares what runs with what is wanted; nil means that nothing is to be done.
func Decide(deployment *appsv1.Deployment, config *corev1.ConfigMap, wanted Wanted) (*Upgrade, error) {
	container := find(deployment)
	if container == nil {
		return nil, nil
	}
	current, err := image.Parse(container.Image)
	if err != nil {
		return nil, err
	}
	target, err := Target(current, wanted)
	if err != nil {
		return nil, err
	}
	key, mounted := shown(deployment)
	if target == current && key != BackupKey {
		return nil, nil
	}
	from, err := version(current.Tag)
	if err != nil {
		return nil, err
	}
	to, err := version(target.Tag)
	if err != nil {
		return nil, err
	}
	// While the Deployment shows the backup, an upgrade is half done: the other key may be migrated already.
	former, ok := config.Data[CorefileKey]
	if backup, kept := config.Data[BackupKey]; kept && key == BackupKey {
		former, ok = backup, true
	}
	if !ok {
		return nil, fmt.Errorf("ConfigMap %s has no key %s", Name, CorefileKey)
	}
	migrated, err := Migrate(from, to, former)
	if err != nil {
		return nil, err
	}
	return &Upgrade{Image: target.String(), Former: former, Migrated: migrated, Mounted: mounted}, nil
}

// Target is the wanted image. The registries of the Kubernetes project keep CoreDNS in a folder since 1.8.0.
func Target(current image.Image, wanted Wanted) (image.Image, error) {
	target := current
	if wanted.Tag != "" {
		target.Tag = wanted.Tag
	}
	if wanted.Repository != "" {
		target.Repository = wanted.Repository
	} else if official(strings.TrimSuffix(current.Repository, "/"+Name)) {
		target.Repository = strings.TrimSuffix(current.Repository, "/"+Name)
	}
	v, err := version(target.Tag)
	if err != nil {
		return image.Image{}, err
	}
	if official(target.Repository) && v.GTE(semver.Version{Major: 1, Minor: 8}) {
		target.Repository += "/" + Name
	}
	return target, nil
}

func official(repository string) bool {
	return repository == "registry.k8s.io" || repository == "k8s.gcr.io"
}

// Migrate makes the Corefile fit for a newer version; one and the same version needs no change.
func Migrate(from, to semver.Version, corefile string) (string, error) {
	from.Pre, from.Build, to.Pre, to.Build = nil, nil, nil, nil
	switch {
	case to.EQ(from):
		return corefile, nil
	case to.LT(from):
		return "", fmt.Errorf("%w: %s runs, %s is wanted", ErrDowngrade, from, to)
	}
	if err := migration.ValidUpMigration(from.String(), to.String()); err != nil {
		return "", fmt.Errorf("going from CoreDNS %s to %s: %w", from, to, err)
	}
	migrated, err := migration.Migrate(from.String(), to.String(), corefile, false)
	if err != nil {
		return "", fmt.Errorf("migrating the Corefile from CoreDNS %s to %s: %w", from, to, err)
	}
	return migrated, nil
}

// CanMigrate says why a change of the image's tag cannot be made, or nil.
func CanMigrate(fromTag, toTag string) error {
	from, err := version(fromTag)
	if err != nil {
		return err
	}
	to, err := version(toTag)
	if err != nil {
		return err
	}
	_, err = Migrate(from, to, ".:53 {\n}\n")
	return err
}

// version reads a tag such as v1.14.6 or 1.6.2_vendor.1; what follows an underscore does not count.
func version(tag string) (semver.Version, error) {
	parsed, err := semver.ParseTolerant(strings.ReplaceAll(tag, "_", "+"))
	if err != nil {
		return semver.Version{}, fmt.Errorf("%q is no version of CoreDNS: %w", tag, err)
	}
	parsed.Build = nil
	return parsed, nil
}

func find(deployment *appsv1.Deployment) *corev1.Container {
	for i := range deployment.Spec.Template.Spec.Containers {
		if deployment.Spec.Template.Spec.Containers[i].Name == Name {
			return &deployment.Spec.Template.Spec.Containers[i]
		}
	}
	return nil
}

// shown is the key of the ConfigMap that the Deployment shows as file.
func shown(deployment *appsv1.Deployment) (key string, mounted bool) {
	for _, volume := range deployment.Spec.Template.Spec.Volumes {
		if volume.Name != Volume || volume.ConfigMap == nil {
			continue
		}
		for _, item := range volume.ConfigMap.Items {
			if item.Path == CorefileKey {
				return item.Key, true
			}
		}
	}
	return "", false
}
