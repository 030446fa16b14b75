package apiserver

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
)

// wantsTable says whether a client, as kubectl get does, would rather have columns than objects.
func wantsTable(req *http.Request) bool {
	return strings.Contains(req.Header.Get("Accept"), "as=Table;v=v1;g=meta.k8s.io")
}

// tableOf shows objects as the rows of a table. A table of no rows has columns, too.
func tableOf(req *http.Request, t target, version string, objects ...*unstructured.Unstructured) *metav1.Table {
	table := &metav1.Table{TypeMeta: metav1.TypeMeta{Kind: "Table", APIVersion: "meta.k8s.io/v1"}, ListMeta: metav1.ListMeta{ResourceVersion: version}}
	columns := columnsOf(t)
	for _, c := range columns {
		table.ColumnDefinitions = append(table.ColumnDefinitions, metav1.TableColumnDefinition{Name: c.name, Type: "string", Format: c.format, Priority: c.priority})
	}
	now := time.Now()
	for _, o := range objects {
		row := metav1.TableRow{Object: rowObject(req.URL.Query().Get("includeObject"), o)}
		for _, c := range columns {
			row.Cells = append(row.Cells, c.cell(o, now))
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

// rowObject is what a client gets of an object besides its cells.
func rowObject(include string, o *unstructured.Unstructured) runtime.RawExtension {
	switch metav1.IncludeObjectPolicy(include) {
	case metav1.IncludeNone:
		return runtime.RawExtension{}
	case metav1.IncludeObject:
		return runtime.RawExtension{Object: o}
	}
	meta := &unstructured.Unstructured{Object: map[string]any{"metadata": o.Object["metadata"]}}
	meta.SetAPIVersion("meta.k8s.io/v1")
	meta.SetKind("PartialObjectMetadata")
	return runtime.RawExtension{Object: meta}
}

type column struct {
	name, format string
	// priority above 0 is shown in wide output only.
	priority int32
	cell     func(o *unstructured.Unstructured, now time.Time) any
}

func columnsOf(t target) []column {
	if more, ok := details[t.resource.name]; ok {
		return append([]column{name}, more...)
	}
	return []column{name, age}
}

var (
	name = column{name: "Name", format: "name", cell: func(o *unstructured.Unstructured, _ time.Time) any { return o.GetName() }}
	age  = column{name: "Age", cell: func(o *unstructured.Unstructured, now time.Time) any {
		return duration.HumanDuration(now.Sub(o.GetCreationTimestamp().Time))
	}}
)

// field shows the text or number at a path; what is not there is shown as none.
func field(name, none string, path ...string) column {
	return column{name: name, cell: func(o *unstructured.Unstructured, _ time.Time) any { return text(o, none, path...) }}
}

func wide(c column) column {
	c.priority = 1
	return c
}

func computed(name string, cell func(o *unstructured.Unstructured) string) column {
	return column{name: name, cell: func(o *unstructured.Unstructured, _ time.Time) any { return cell(o) }}
}

func text(o *unstructured.Unstructured, none string, path ...string) string {
	value, found, err := unstructured.NestedFieldNoCopy(o.Object, path...)
	if !found || err != nil {
		return none
	}
	switch v := value.(type) {
	case string:
		if v != "" {
			return v
		}
	case int64:
		return strconv.FormatInt(v, 10)
	}
	return none
}

func entries(o *unstructured.Unstructured) string {
	data, _, _ := unstructured.NestedMap(o.Object, "data")
	return strconv.Itoa(len(data))
}

// details are the columns of a kind after its name, as kubectl users know them. Other kinds have their age only.
var details = map[string][]column{
	"namespaces": {field("Status", "Active", "status", "phase"), age},
	"nodes": {computed("Status", nodeStatus), computed("Roles", nodeRoles), age, field("Version", "<unknown>", "status", "nodeInfo", "kubeletVersion"),
		wide(field("OS-Image", "<unknown>", "status", "nodeInfo", "osImage")), wide(field("Container-Runtime", "<unknown>", "status", "nodeInfo", "containerRuntimeVersion"))},
	"pods": {computed("Ready", podReady), computed("Status", podStatus), computed("Restarts", podRestarts), age,
		wide(field("IP", "<none>", "status", "podIP")), wide(field("Node", "<none>", "spec", "nodeName"))},
	"services":     {field("Type", "ClusterIP", "spec", "type"), field("Cluster-IP", "<none>", "spec", "clusterIP"), computed("Port(s)", servicePorts), age},
	"deployments":  {computed("Ready", readyReplicas), field("Up-to-date", "0", "status", "updatedReplicas"), field("Available", "0", "status", "availableReplicas"), age},
	"replicasets":  {field("Desired", "0", "spec", "replicas"), field("Current", "0", "status", "replicas"), field("Ready", "0", "status", "readyReplicas"), age},
	"statefulsets": {computed("Ready", readyReplicas), age},
	"daemonsets": {field("Desired", "0", "status", "desiredNumberScheduled"), field("Current", "0", "status", "currentNumberScheduled"),
		field("Ready", "0", "status", "numberReady"), field("Up-to-date", "0", "status", "updatedNumberScheduled"),
		field("Available", "0", "status", "numberAvailable"), age},
	"configmaps": {computed("Data", entries), age},
	"secrets":    {field("Type", "Opaque", "type"), computed("Data", entries), age},
	"leases":     {field("Holder", "", "spec", "holderIdentity"), age},
	"poddisruptionbudgets": {field("Min available", "N/A", "spec", "minAvailable"), field("Max unavailable", "N/A", "spec", "maxUnavailable"),
		field("Allowed disruptions", "0", "status", "disruptionsAllowed"), age},
}
