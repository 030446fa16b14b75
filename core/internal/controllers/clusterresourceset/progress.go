package clusterresourceset

import (
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	addonsv1 "github.com/slipway-capi/slipway/contract/api/addons/v1beta2"
)

// progress is what this process knows of the deliveries: which versions it has delivered, and what keeps others from being
// delivered. After a restart it fills again with the first look at each Cluster.
type progress struct {
	mu       sync.Mutex
	clusters map[types.NamespacedName]*deliveries
}

type deliveries struct {
	versions map[Delivery]string
	// troubles are the messages about those that are not complete.
	troubles map[Delivery]trouble
}

func (p *progress) of(cluster types.NamespacedName) *deliveries {
	if p.clusters == nil {
		p.clusters = map[types.NamespacedName]*deliveries{}
	}
	if p.clusters[cluster] == nil {
		p.clusters[cluster] = &deliveries{versions: map[Delivery]string{}, troubles: map[Delivery]trouble{}}
	}
	return p.clusters[cluster]
}

func (p *progress) seen(cluster types.NamespacedName) map[Delivery]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[Delivery]string{}
	for k, v := range p.of(cluster).versions {
		out[k] = v
	}
	return out
}

// note takes results down. It says whether anything is different from before.
func (p *progress) note(cluster types.NamespacedName, d Decision, results []Result) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	have := p.of(cluster)
	troubles := map[Delivery]trouble{}
	for _, m := range d.Missing {
		troubles[m] = *missing()
	}
	for _, r := range results {
		if r.Trouble == nil {
			have.versions[r.Delivery] = r.Version
			continue
		}
		troubles[r.Delivery] = *r.Trouble
	}
	changed := !reflect.DeepEqual(have.troubles, troubles) || len(results) > 0
	have.troubles = troubles
	return changed
}

func (p *progress) forget(cluster types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.clusters, cluster)
}

// troublesOf are those of one set in one Cluster.
func (p *progress) troublesOf(cluster types.NamespacedName, set string) map[addonsv1.ResourceReference]trouble {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[addonsv1.ResourceReference]trouble{}
	if have := p.clusters[cluster]; have != nil {
		for d, t := range have.troubles {
			if d.Set == set {
				out[d.Resource] = t
			}
		}
	}
	return out
}
