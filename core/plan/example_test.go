package plan_test

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/core/plan"
)

const (
	cluster    = `{metadata: {namespace: ns, name: prod}}`
	deployment = `{metadata: {namespace: ns, name: md, uid: u1}, spec: {clusterName: prod, replicas: 1,
	  selector: {matchLabels: {cluster.x-k8s.io/deployment-name: md}},
	  template: {spec: {clusterName: prod, version: v1.37.2}}}}`
	set = `{metadata: {namespace: ns, name: md-abcde, uid: u2, labels: {cluster.x-k8s.io/cluster-name: prod},
	    ownerReferences: [{apiVersion: cluster.x-k8s.io/v1beta2, kind: MachineDeployment, name: md, uid: u1, controller: true}]},
	  spec: {clusterName: prod, replicas: 1, template: {spec: {clusterName: prod, version: v1.37.2}}}, status: {replicas: 1}}`
	machine = `{metadata: {namespace: ns, name: md-abcde-12345, uid: u3,
	    labels: {cluster.x-k8s.io/cluster-name: prod, cluster.x-k8s.io/deployment-name: md},
	    ownerReferences: [{apiVersion: cluster.x-k8s.io/v1beta2, kind: MachineSet, name: md-abcde, uid: u2, controller: true}]},
	  spec: {clusterName: prod, version: v1.37.2}, status: {nodeRef: {name: node}}}`
)

// What would a new version do? Nothing is written to find out.
func ExampleMake() {
	proposed := &clusterv1.MachineDeployment{}
	objects := []client.Object{&clusterv1.Cluster{}, proposed, &clusterv1.MachineSet{}, &clusterv1.Machine{}}
	for i, text := range []string{cluster, deployment, set, machine} {
		if err := yaml.Unmarshal([]byte(text), objects[i]); err != nil {
			panic(err)
		}
	}
	scheme := runtime.NewScheme()
	if err := clusterv1.AddToScheme(scheme); err != nil {
		panic(err)
	}
	management := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()

	proposed.Spec.Template.Spec.Version = "v1.38.0"
	p, err := plan.Make(context.Background(), plan.Request{Reader: management, Resolver: external.NewResolver(management), Proposed: proposed})
	if err != nil {
		panic(err)
	}
	for _, m := range p.Machines {
		fmt.Printf("%s is %s: %s\n", m.Name, m.Fate, m.Why)
		for _, f := range m.Because {
			fmt.Printf("  %s: %s -> %s\n", f.Path, f.From, f.To)
		}
	}
	// Output:
	// md-abcde-12345 is replaced: Version v1.37.2, v1.38.0 required
	//   spec.template.spec.version: v1.37.2 -> v1.38.0
}
