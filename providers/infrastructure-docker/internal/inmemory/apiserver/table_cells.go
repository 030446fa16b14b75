package apiserver

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// elements are the objects of a list field.
func elements(o *unstructured.Unstructured, path ...string) []map[string]any {
	list, _, _ := unstructured.NestedSlice(o.Object, path...)
	var out []map[string]any
	for _, e := range list {
		if m, ok := e.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func nodeStatus(o *unstructured.Unstructured) string {
	status := "Unknown"
	for _, c := range elements(o, "status", "conditions") {
		if c["type"] != "Ready" {
			continue
		}
		status = "NotReady"
		if c["status"] == "True" {
			status = "Ready"
		}
	}
	if cordoned, _, _ := unstructured.NestedBool(o.Object, "spec", "unschedulable"); cordoned {
		status += ",SchedulingDisabled"
	}
	return status
}

func nodeRoles(o *unstructured.Unstructured) string {
	var roles []string
	for label := range o.GetLabels() {
		if role, ok := strings.CutPrefix(label, "node-role.kubernetes.io/"); ok && role != "" {
			roles = append(roles, role)
		}
	}
	if len(roles) == 0 {
		return "<none>"
	}
	slices.Sort(roles)
	return strings.Join(roles, ",")
}

func podReady(o *unstructured.Unstructured) string {
	ready := 0
	for _, c := range elements(o, "status", "containerStatuses") {
		if c["ready"] == true {
			ready++
		}
	}
	return fmt.Sprintf("%d/%d", ready, len(elements(o, "spec", "containers")))
}

func podStatus(o *unstructured.Unstructured) string {
	if o.GetDeletionTimestamp() != nil {
		return "Terminating"
	}
	return text(o, "Pending", "status", "phase")
}

func podRestarts(o *unstructured.Unstructured) string {
	var restarts int64
	for _, c := range elements(o, "status", "containerStatuses") {
		n, _ := c["restartCount"].(int64)
		restarts += n
	}
	return fmt.Sprint(restarts)
}

func servicePorts(o *unstructured.Unstructured) string {
	var ports []string
	for _, p := range elements(o, "spec", "ports") {
		protocol, _ := p["protocol"].(string)
		if protocol == "" {
			protocol = "TCP"
		}
		ports = append(ports, fmt.Sprintf("%v/%s", p["port"], protocol))
	}
	if len(ports) == 0 {
		return "<none>"
	}
	return strings.Join(ports, ",")
}

// readyReplicas shows the ready replicas of those wanted, of which there is one unless told otherwise.
func readyReplicas(o *unstructured.Unstructured) string {
	return text(o, "0", "status", "readyReplicas") + "/" + text(o, "1", "spec", "replicas")
}
