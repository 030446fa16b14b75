package extensionconfig

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/extension"
	"github.com/slipway-capi/slipway/contract/extension/answers"
	"github.com/slipway-capi/slipway/contract/extension/endpoint"
	"github.com/slipway-capi/slipway/contract/extension/hook"
	"github.com/slipway-capi/slipway/contract/paused"
)

// authoritiesKey is where Secrets of TLS certificates hold the authority.
const authoritiesKey = "ca.crt"

// observe reads the Secret with the authorities and asks the extension what it serves. It writes nothing.
func (c *Controller) observe(ctx context.Context, config *runtimev1.ExtensionConfig) World {
	w := World{Config: config}
	if paused.HasAnnotation(config) {
		return w
	}
	if w.Authorities, w.Err = c.authorities(ctx, config); w.Err != nil {
		return w
	}
	to := config.Spec.ClientConfig
	if w.Authorities != nil {
		to.CABundle = w.Authorities
	}
	w.Handlers, w.Err = c.discover(ctx, config.Name, to)
	return w
}

// SecretOf is the Secret that an ExtensionConfig gets its authorities from; false if there is none.
func SecretOf(o client.Object) (client.ObjectKey, bool) {
	text, ok := o.GetAnnotations()[runtimev1.InjectCAFromSecretAnnotation]
	namespace, name, _ := strings.Cut(text, "/")
	return client.ObjectKey{Namespace: namespace, Name: name}, ok
}

func (c *Controller) authorities(ctx context.Context, config *runtimev1.ExtensionConfig) ([]byte, error) {
	key, ok := SecretOf(config)
	if !ok {
		return nil, nil
	}
	if key.Namespace == "" || key.Name == "" || strings.Contains(key.Name, "/") {
		return nil, fmt.Errorf("annotation %s must be of the form namespace/name", runtimev1.InjectCAFromSecretAnnotation)
	}
	secret := &corev1.Secret{}
	if err := c.Live.Get(ctx, key, secret); apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("the Secret %s with the authorities does not exist", key)
	} else if err != nil {
		return nil, fmt.Errorf("reading the Secret %s with the authorities: %w", key, err)
	}
	bundle := secret.Data[authoritiesKey]
	if _, err := certificates.ParseCertificates(bundle); err != nil {
		return nil, fmt.Errorf("the Secret %s holds no certificate in %s", key, authoritiesKey)
	}
	return bundle, nil
}

// discover asks an extension what it serves.
func (c *Controller) discover(ctx context.Context, name string, to runtimev1.ExtensionConfigClientConfig) ([]hooks.ExtensionHandler, error) {
	at, err := endpoint.Of(to)
	if err != nil {
		return nil, err
	}
	extensionClient, err := c.Pool.For(name, at)
	if err != nil {
		return nil, err
	}
	request, err := json.Marshal(hook.Discovery.NewRequest())
	if err != nil {
		return nil, fmt.Errorf("encoding the request: %w", err)
	}
	response, _, err := extensionClient.Call(ctx, hook.Discovery.Definition, "", extension.DefaultTimeout, request)
	if err != nil {
		log.FromContext(ctx).V(2).Info("An extension cannot be asked what it serves", "because", err.Error(), "cause", fmt.Sprint(errors.Unwrap(err)))
		return nil, err
	}
	if err := answers.Judge(response); err != nil {
		return nil, err
	}
	return response.(*hooks.DiscoveryResponse).Handlers, nil
}
