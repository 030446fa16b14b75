package testenv

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

const (
	// ownerProtection is an admission plug-in that is off by default: who gives an existing object an owner must be allowed to delete it,
	// and who makes it block its owner's deletion must be allowed to update the owner's finalizers.
	ownerProtection = "OwnerReferencesPermissionEnforcement"
	// managerUser is who restricted managers are to the API server.
	managerUser = "testenv:manager"
	// discovery is longer than the API server takes to learn of kinds that were just installed.
	discovery = 30 * time.Second
)

// Refusals lists what restricted managers were not allowed to do, each once, in order.
func (e *Environment) Refusals() []string {
	if e.refusals == nil {
		return nil
	}
	e.refusals.mu.Lock()
	defer e.refusals.mu.Unlock()
	return slices.Sorted(slices.Values(e.refusals.messages))
}

// restrict makes a user with the rights of the roles and lets the managers be that user.
func (e *Environment) restrict(ctx context.Context, roles []*rbacv1.ClusterRole) error {
	for _, role := range roles {
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: role.Name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: managerUser}},
		}
		for _, o := range []client.Object{role, binding} {
			if err := e.Client.Create(ctx, o); err != nil {
				return fmt.Errorf("giving managers their rights: %w", err)
			}
		}
	}
	user, err := e.plane.AddUser(envtest.User{Name: managerUser}, e.Config)
	if err != nil {
		return fmt.Errorf("making the user of the managers: %w", err)
	}
	e.managers, e.refusals = rest.CopyConfig(user.Config()), &refusals{}
	e.managers.QPS, e.managers.Burst = -1, 0
	e.managers.Wrap(func(next http.RoundTripper) http.RoundTripper { return e.refusals.listen(next) })
	return e.awaitKinds(ctx)
}

// awaitKinds waits until the protection of owners knows the installed kinds: it looks for new ones every 10 seconds, and refuses those that
// it does not know.
func (e *Environment) awaitKinds(ctx context.Context) error {
	config := rest.CopyConfig(e.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "testenv:nobody"}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: config.Impersonate.UserName},
		Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"create"}}}}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: role.Name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: config.Impersonate.UserName}}}
	for _, o := range []client.Object{role, binding} {
		if err := e.Client.Create(ctx, o); err != nil {
			return fmt.Errorf("making a user to ask with: %w", err)
		}
	}
	nobody, err := client.New(config, client.Options{Scheme: e.Scheme})
	if err != nil {
		return fmt.Errorf("making a client to ask with: %w", err)
	}
	probe := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "testenv-kinds"}}
	yes := true
	for _, crd := range e.plane.CRDs {
		probe.OwnerReferences = append(probe.OwnerReferences, metav1.OwnerReference{
			APIVersion: crd.Spec.Group + "/" + crd.Spec.Versions[0].Name, Kind: crd.Spec.Names.Kind, Name: "any", UID: "any", BlockOwnerDeletion: &yes,
		})
	}
	if len(probe.OwnerReferences) == 0 {
		return nil
	}
	// The first reference that nobody may set is refused, so each kind is asked about on its own.
	for _, ref := range probe.OwnerReferences {
		one := probe.DeepCopy()
		one.OwnerReferences = []metav1.OwnerReference{ref}
		err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, discovery, true, func(ctx context.Context) (bool, error) {
			err := nobody.Create(ctx, one.DeepCopy(), client.DryRunAll)
			return err != nil && strings.Contains(err.Error(), "you can't set finalizers on"), nil
		})
		if err != nil {
			return fmt.Errorf("waiting until the API server protects owners of kind %s: %w", ref.Kind, err)
		}
	}
	return nil
}

// refusals collects what the API server answers to requests for which a right is missing.
type refusals struct {
	mu       sync.Mutex
	messages []string
}

type listener struct {
	next http.RoundTripper
	to   *refusals
}

func (r *refusals) listen(next http.RoundTripper) http.RoundTripper {
	return listener{next: next, to: r}
}

// RoundTrip implements http.RoundTripper.
func (l listener) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := l.next.RoundTrip(request)
	if err != nil || response.StatusCode != http.StatusForbidden {
		return response, err
	}
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil {
		return response, err
	}
	l.to.note(message(body))
	return response, nil
}

func message(body []byte) string {
	var status metav1.Status
	if json.Unmarshal(body, &status) != nil || status.Message == "" {
		return string(body)
	}
	return status.Message
}

// note remembers a refusal for want of a right. Others, by webhooks or for a namespace that goes, are part of a manager's life.
func (r *refusals) note(message string) {
	for _, sign := range []string{`User "` + managerUser + `" cannot`, "cannot set an ownerRef", "cannot set blockOwnerDeletion"} {
		if !strings.Contains(message, sign) {
			continue
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if !slices.Contains(r.messages, message) {
			r.messages = append(r.messages, message)
		}
		return
	}
}
