package kubeadmconfig

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/template"
	"time"

	"github.com/blang/semver/v4"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/slipway-capi/slipway/contract/accessors"
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/ownership"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/internal/token"
)

// maxFileSize is what a file template may grow to.
const maxFileSize = 1 << 20

// observe reads all that matters for one KubeadmConfig at its stage. It writes nothing.
func (c *Controller) observe(ctx context.Context, config *bootstrapv1.KubeadmConfig) (World, error) {
	w := World{Now: time.Now(), Config: config, TokenTTL: c.TokenTTL, NewToken: token.New()}
	if err := c.owner(ctx, &w); err != nil || StageOf(w) == Idle {
		return w, err
	}
	secret := &corev1.Secret{}
	err := c.Secrets.Get(ctx, client.ObjectKeyFromObject(config), secret)
	if err == nil {
		w.Secret = secret
	} else if !apierrors.IsNotFound(err) {
		return w, fmt.Errorf("reading data Secret: %w", err)
	}
	stage := StageOf(w)
	if stage == WaitInfrastructure || stage == WaitControlPlane || stage == Adopt {
		return w, nil
	}
	if stage != InitControlPlane {
		w.Remote = c.remote(ctx, w)
	}
	if stage == Done && makesCertificates(w) {
		set := certificateSet(w)
		_, err := certificates.Lookup(ctx, certificates.Source{Cached: c.Secrets}, client.ObjectKeyFromObject(w.Cluster), set)
		w.Certificates = CertificatesView{Set: set, Err: err}
	}
	if stage != Done || w.Pool != nil {
		key := client.ObjectKeyFromObject(w.Cluster)
		w.Certificates.Set = certificateSet(w)
		w.Certificates.Missing, w.Certificates.Err = certificates.Lookup(ctx, certificates.Source{Cached: c.Secrets, Live: c.Live}, key, w.Certificates.Set)
		w.Sources = c.sources(ctx, w)
	}
	return w, nil
}

// owner finds the Machine or MachinePool and the Cluster. What is not there yet is no error: a watch tells.
func (c *Controller) owner(ctx context.Context, w *World) error {
	key := client.ObjectKey{Namespace: w.Config.Namespace}
	cluster := ""
	if ref := ownership.Of(w.Config, schema.GroupKind{Group: clusterv1.GroupVersion.Group, Kind: "Machine"}); ref != nil {
		m := &clusterv1.Machine{}
		key.Name = ref.Name
		if err := c.Client.Get(ctx, key, m); err != nil {
			return client.IgnoreNotFound(err)
		}
		w.Machine, cluster = m, m.Spec.ClusterName
	} else if ref := ownership.Of(w.Config, schema.GroupKind{Group: clusterv1.GroupVersion.Group, Kind: "MachinePool"}); ref != nil {
		p := &clusterv1.MachinePool{}
		key.Name = ref.Name
		if err := c.Client.Get(ctx, key, p); err != nil {
			return client.IgnoreNotFound(err)
		}
		w.Pool, cluster = p, p.Spec.ClusterName
	} else {
		return nil
	}
	found := &clusterv1.Cluster{}
	key.Name = cluster
	if err := c.Client.Get(ctx, key, found); err != nil {
		return client.IgnoreNotFound(err)
	}
	w.Cluster = found
	return nil
}

func (c *Controller) remote(ctx context.Context, w World) RemoteView {
	if joined(w) && w.Machine != nil {
		return RemoteView{}
	}
	remote, err := c.ClusterCache.UncachedClient(ctx, client.ObjectKeyFromObject(w.Cluster))
	if err != nil {
		return RemoteView{}
	}
	view := RemoteView{Connected: true}
	if t := w.Config.Spec.JoinConfiguration.Discovery.BootstrapToken.Token; t != "" {
		view.Token, view.Err = token.Read(ctx, remote, t)
	}
	return view
}

func (c *Controller) sources(ctx context.Context, w World) SourcesView {
	var s SourcesView
	for _, f := range w.Config.Spec.Files {
		if f.ContentFrom.Secret.Name != "" {
			content, err := c.secretText(ctx, w.Config.Namespace, f.ContentFrom.Secret)
			if err != nil {
				s.FileErr = errors.Join(s.FileErr, fmt.Errorf("file %s: %w", f.Path, err))
			}
			f.Content = content
		}
		if f.ContentFormat == bootstrapv1.FileContentFormatTemplate && s.FileErr == nil {
			content, err := c.fill(ctx, w, f)
			if err != nil {
				s.FileErr = errors.Join(s.FileErr, err)
			}
			f.Content = content
		}
		s.Files = append(s.Files, f)
	}
	for _, u := range w.Config.Spec.Users {
		if u.PasswdFrom.Secret.Name != "" {
			text, err := c.secretText(ctx, w.Config.Namespace, u.PasswdFrom.Secret)
			if err != nil {
				s.UserErr = errors.Join(s.UserErr, fmt.Errorf("password of user %s: %w", u.Name, err))
			}
			u.Passwd = text
		}
		s.Users = append(s.Users, u)
	}
	return s
}

func (c *Controller) secretText(ctx context.Context, namespace string, from bootstrapv1.SecretKeySource) (string, error) {
	secret := &corev1.Secret{}
	if err := c.Live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: from.Name}, secret); err != nil {
		return "", fmt.Errorf("reading Secret %s: %w", from.Name, err)
	}
	data, ok := secret.Data[from.Key]
	if !ok {
		return "", fmt.Errorf("secret %s has no key %s", from.Name, from.Key)
	}
	return string(data), nil
}

// limited stops a template that grows without end.
type limited struct{ strings.Builder }

// Write refuses what goes beyond the limit.
func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxFileSize {
		return 0, fmt.Errorf("the result is larger than %d bytes", maxFileSize)
	}
	return l.Builder.Write(p)
}

// fill executes a file's template; only such files need the control plane's version.
func (c *Controller) fill(ctx context.Context, w World, f bootstrapv1.File) (string, error) {
	// The key is always there, so that templates can ask for it with if while a misspelt one is an error.
	data := map[string]any{"controlPlane": nil}
	t, err := template.New(f.Path).Option("missingkey=error").Parse(f.Content)
	if err != nil {
		return "", templateError(f, err)
	}
	if ref := w.Cluster.Spec.ControlPlaneRef; ref.Name != "" {
		cp, err := external.Get(ctx, c.Client, c.Resolver, ref, w.Cluster.Namespace)
		if err != nil {
			return "", fmt.Errorf("file %s: reading the control plane: %w", f.Path, err)
		}
		if v := controlPlaneVersion(cp.Unstructured, cp.Contract); v != "" {
			parsed, err := semver.ParseTolerant(v)
			if err != nil {
				return "", fmt.Errorf("file %s: version %q of the control plane: %w", f.Path, v, err)
			}
			data["controlPlane"] = map[string]any{"version": "v" + parsed.String()}
		}
	}
	var out limited
	if err := t.Execute(&out, data); err != nil {
		return "", templateError(f, err)
	}
	return out.String(), nil
}

// templateError tells what is wrong with a template, unless it comes from a Secret: the cause quotes the text.
func templateError(f bootstrapv1.File, cause error) error {
	if name := f.ContentFrom.Secret.Name; name != "" {
		return fmt.Errorf("file %s: template: the text in Secret %s cannot be filled in", f.Path, name)
	}
	return fmt.Errorf("file %s: template: %w", f.Path, cause)
}

func controlPlaneVersion(cp *unstructured.Unstructured, contract string) string {
	v, err := accessors.ControlPlane(contract).Version().GetOr(cp, "")
	if err != nil {
		return ""
	}
	return v
}
