package manifests

import (
	"encoding/base64"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Server is where the webhooks of a module are served.
type Server struct {
	// URL is scheme, host and port.
	URL string
	// CA is the PEM bundle that its certificate is checked with.
	CA []byte
	// Prefix is put before the names of webhook configurations, which are the same in every module as generated.
	Prefix string
}

// Redirect makes webhook configurations, and CRDs with conversion webhooks, call a server by its URL in place of the
// service that their generated manifests name. Other objects stay as they are.
func Redirect(object *unstructured.Unstructured, to Server) error {
	switch object.GetKind() {
	case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
		if err := redirectEach(object, to); err != nil {
			return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
		object.SetName(to.Prefix + object.GetName())
	case "CustomResourceDefinition":
		config, found, err := unstructured.NestedMap(object.Object, "spec", "conversion", "webhook", "clientConfig")
		if err != nil || !found {
			return err
		}
		if err := redirect(config, to); err != nil {
			return fmt.Errorf("CustomResourceDefinition %s: %w", object.GetName(), err)
		}
		return unstructured.SetNestedMap(object.Object, config, "spec", "conversion", "webhook", "clientConfig")
	}
	return nil
}

func redirectEach(object *unstructured.Unstructured, to Server) error {
	webhooks, _, err := unstructured.NestedSlice(object.Object, "webhooks")
	if err != nil {
		return err
	}
	for i, entry := range webhooks {
		webhook, ok := entry.(map[string]any)
		if !ok {
			return fmt.Errorf("webhooks[%d] is not an object", i)
		}
		config, ok := webhook["clientConfig"].(map[string]any)
		if !ok {
			return fmt.Errorf("webhooks[%d] has no clientConfig", i)
		}
		if err := redirect(config, to); err != nil {
			return fmt.Errorf("webhooks[%d]: %w", i, err)
		}
	}
	return unstructured.SetNestedSlice(object.Object, webhooks, "webhooks")
}

func redirect(config map[string]any, to Server) error {
	path, found, err := unstructured.NestedString(config, "service", "path")
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("clientConfig names no service path")
	}
	delete(config, "service")
	config["url"] = to.URL + path
	config["caBundle"] = base64.StdEncoding.EncodeToString(to.CA)
	return nil
}
