package etcdbackup

import (
	"crypto/x509"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	backupv1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/backup/v1alpha1"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/schedule"
)

const (
	// longestBackupName leaves room for the time in the names of snapshots, longestName for what comes after a snapshot's
	// name in that of a file, which may have 255 bytes.
	longestBackupName = 200
	longestName       = 220
)

var bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

// ValidateBackup refuses a backup that cannot work.
func ValidateBackup(b *backupv1.EtcdBackup) field.ErrorList {
	spec := field.NewPath("spec")
	problems := validateName(b.Name, longestBackupName)
	if _, err := schedule.Parse(b.Spec.Schedule); err != nil {
		problems = append(problems, field.Invalid(spec.Child("schedule"), b.Spec.Schedule, err.Error()))
	}
	return append(problems, validateDestination(b.Spec.Destination, spec.Child("destination"))...)
}

// ValidateSnapshot refuses a snapshot that cannot be taken.
func ValidateSnapshot(s *backupv1.EtcdSnapshot) field.ErrorList {
	problems := validateName(s.Name, longestName)
	return append(problems, validateDestination(s.Spec.Destination, field.NewPath("spec", "destination"))...)
}

func validateName(name string, most int) field.ErrorList {
	if len(name) > most {
		return field.ErrorList{field.TooLong(field.NewPath("metadata", "name"), name, most)}
	}
	return nil
}

func validateDestination(d backupv1.Destination, at *field.Path) field.ErrorList {
	var problems field.ErrorList
	if d.Directory != nil && !filepath.IsLocal(d.Directory.Path) {
		problems = append(problems, field.Invalid(at.Child("directory", "path"), d.Directory.Path,
			"must be relative to the directory of --etcd-backup-root and stay below it, such as clusters/production"))
	}
	if d.S3 != nil {
		problems = append(problems, validateS3(d.S3, at.Child("s3"))...)
	}
	return problems
}

func validateS3(s3 *backupv1.S3Destination, at *field.Path) field.ErrorList {
	var problems field.ErrorList
	if s3.Endpoint != "" {
		if why := judgeEndpoint(s3.Endpoint); why != "" {
			problems = append(problems, field.Invalid(at.Child("endpoint"), s3.Endpoint, why))
		}
	}
	if !bucketName.MatchString(s3.Bucket) {
		problems = append(problems, field.Invalid(at.Child("bucket"), s3.Bucket,
			"must be 3 to 63 small letters, digits, dots and hyphens, with a letter or a digit at both ends"))
	}
	if s3.Prefix != "" && (path.Clean(s3.Prefix) != s3.Prefix || !filepath.IsLocal(s3.Prefix)) {
		problems = append(problems, field.Invalid(at.Child("prefix"), s3.Prefix, "must be names with single slashes between, such as clusters/production"))
	}
	if s3.CABundle != "" && !x509.NewCertPool().AppendCertsFromPEM([]byte(s3.CABundle)) {
		problems = append(problems, field.Invalid(at.Child("caBundle"), fmt.Sprintf("%d bytes", len(s3.CABundle)), "must hold a certificate in PEM"))
	}
	return problems
}

func judgeEndpoint(endpoint string) string {
	const example = "such as https://minio.example.com:9000"
	u, err := url.Parse(endpoint)
	switch {
	case err != nil, u.Scheme != "https" && u.Scheme != "http", u.Hostname() == "":
		return "must be a URL with https or http and a host, " + example
	case u.User != nil:
		return "must hold no credentials: they belong into the Secret of credentialsSecretRef"
	case strings.Trim(u.Path, "/") != "", u.RawQuery != "", u.Fragment != "":
		return "must end after the host and port, " + example + "; bucket and prefix have fields of their own"
	}
	return ""
}
