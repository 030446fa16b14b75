package drain

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/paging"
)

// page is how many objects are read from a workload cluster with one request.
const page = 100

var daemonSet = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "DaemonSet"}

// Observe reads what [Decide] needs: rules from the management cluster, all else from the workload cluster, which should be
// read without a cache, since pods are read for the Nodes that go only.
func Observe(ctx context.Context, management, workload client.Reader, m *clusterv1.Machine, clusterLabels map[string]string, node *corev1.Node, now time.Time) (World, error) {
	w := World{Now: now, Machine: m, ClusterLabels: clusterLabels, Node: node}
	rules := &clusterv1.MachineDrainRuleList{}
	if err := management.List(ctx, rules, client.InNamespace(m.Namespace)); err != nil {
		return w, fmt.Errorf("listing MachineDrainRules: %w", err)
	}
	w.Rules = rules.Items
	if err := w.readPods(ctx, workload); err != nil {
		return w, err
	}
	if len(w.Pods) == 0 {
		return w, nil
	}
	if err := w.readDaemonSets(ctx, workload); err != nil {
		return w, err
	}
	if err := w.readBudgets(ctx, workload); err != nil {
		return w, err
	}
	return w, w.readNamespaces(ctx, workload)
}

func (w *World) readPods(ctx context.Context, workload client.Reader) error {
	empty := func() *corev1.PodList { return &corev1.PodList{} }
	onNode := client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("spec.nodeName", w.Node.Name)}
	err := paging.Each(ctx, workload, empty, page, func(list *corev1.PodList) { w.Pods = append(w.Pods, list.Items...) }, onNode)
	if err != nil {
		return fmt.Errorf("listing pods of Node %s: %w", w.Node.Name, err)
	}
	return nil
}

func (w *World) readBudgets(ctx context.Context, workload client.Reader) error {
	empty := func() *policyv1.PodDisruptionBudgetList { return &policyv1.PodDisruptionBudgetList{} }
	err := paging.Each(ctx, workload, empty, page, func(list *policyv1.PodDisruptionBudgetList) { w.Budgets = append(w.Budgets, list.Items...) })
	if err != nil {
		return fmt.Errorf("listing PodDisruptionBudgets: %w", err)
	}
	return nil
}

// readDaemonSets finds out which of the DaemonSets exist that control pods here. One of the same name with another UID is
// not the one.
func (w *World) readDaemonSets(ctx context.Context, workload client.Reader) error {
	w.DaemonSets = map[types.UID]bool{}
	for i := range w.Pods {
		owner := metav1.GetControllerOf(&w.Pods[i])
		if owner == nil || owner.Kind != daemonSet.Kind {
			continue
		}
		if _, known := w.DaemonSets[owner.UID]; known {
			continue
		}
		found := &metav1.PartialObjectMetadata{}
		found.SetGroupVersionKind(daemonSet)
		err := workload.Get(ctx, client.ObjectKey{Namespace: w.Pods[i].Namespace, Name: owner.Name}, found)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("reading DaemonSet %s/%s: %w", w.Pods[i].Namespace, owner.Name, err)
		}
		w.DaemonSets[owner.UID] = !apierrors.IsNotFound(err) && found.UID == owner.UID
	}
	return nil
}

// readNamespaces reads the labels of namespaces if a rule selects by them.
func (w *World) readNamespaces(ctx context.Context, workload client.Reader) error {
	if !slices.ContainsFunc(w.Rules, selectsNamespaces) {
		return nil
	}
	w.Namespaces = map[string]map[string]string{}
	empty := func() *metav1.PartialObjectMetadataList {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NamespaceList"))
		return list
	}
	err := paging.Each(ctx, workload, empty, page, func(list *metav1.PartialObjectMetadataList) {
		for i := range list.Items {
			w.Namespaces[list.Items[i].Name] = list.Items[i].Labels
		}
	})
	if err != nil {
		return fmt.Errorf("listing namespaces: %w", err)
	}
	return nil
}

func selectsNamespaces(r clusterv1.MachineDrainRule) bool {
	return slices.ContainsFunc(r.Spec.Pods, func(p clusterv1.MachineDrainRulePod) bool {
		return len(p.NamespaceSelector.MatchLabels)+len(p.NamespaceSelector.MatchExpressions) > 0
	})
}
