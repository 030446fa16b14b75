package hookcall

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	"github.com/slipway-capi/slipway/contract/extension/answers"
	"github.com/slipway-capi/slipway/contract/extension/hook"
	"github.com/slipway-capi/slipway/contract/extension/registry"
)

// memorable are the hooks whose handlers must give the same response to the same request, and for how long it is remembered: a topology
// is looked at whenever one of its objects changes, which mostly does not change the request. The time bounds for how long a
// new program behind an extension goes unnoticed.
var memorable = map[string]time.Duration{
	hook.GeneratePatches.Name:     2 * time.Minute,
	hook.ValidateTopology.Name:    2 * time.Minute,
	hook.GenerateUpgradePlan.Name: 2 * time.Minute,
	hook.CanUpdateMachine.Name:    2 * time.Minute,
	hook.CanUpdateMachineSet.Name: 2 * time.Minute,
}

type digest [sha256.Size]byte

// same is the key of a response: who was asked what.
func same(r registry.Registered, request hook.Request, content []byte) digest {
	if plan, ok := request.(*hooks.GenerateUpgradePlanRequest); ok {
		// A plan does not depend on how the cluster fares, which changes all the time.
		stable := *plan
		stable.Cluster.Status, stable.Cluster.ResourceVersion = clusterv1.ClusterStatus{}, ""
		if raw, err := json.Marshal(stable); err == nil {
			content = raw
		}
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%s\x00%s\x00%d\x00", r.Name, r.Hook.Hook, r.Extension.UID, r.Extension.Generation)
	h.Write(content)
	return digest(h.Sum(nil))
}

// asked is the key of a wait: a handler more or less, or another version of an extension, is reason to ask again.
func asked(hookName, about string, handlers []registry.Registered) digest {
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%s\x00", hookName, about)
	for _, r := range handlers {
		fmt.Fprintf(h, "%s\x00%s\x00%d\x00", r.Name, r.Extension.UID, r.Extension.Generation)
	}
	return digest(h.Sum(nil))
}

// untilThen is a wait as it is remembered.
type untilThen struct {
	Until   time.Time
	Message string
}

func (c *Client) remember(key digest, about string, w answers.Wait) {
	if about == "" || w.AfterSeconds == 0 {
		return
	}
	until := c.now().Add(time.Duration(w.AfterSeconds) * time.Second)
	if raw, err := json.Marshal(untilThen{until, w.Message}); err == nil {
		c.waits.Put(key, raw, until)
	}
}

// waiting says whether the handlers make the caller wait still.
func (c *Client) waiting(key digest, about string) (answers.Wait, bool) {
	if about == "" {
		return answers.Wait{}, false
	}
	now := c.now()
	raw, ok := c.waits.Get(key, now)
	var w untilThen
	if !ok || json.Unmarshal(raw, &w) != nil {
		return answers.Wait{}, false
	}
	left := (w.Until.Sub(now) + time.Second - 1) / time.Second
	return answers.Wait{AfterSeconds: int32(max(left, 1)), Message: w.Message}, true
}
