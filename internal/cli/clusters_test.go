package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// management is a management cluster with a few Clusters, of which one has a kubeconfig. It returns the file to reach it by.
func management(t *testing.T) string {
	t.Helper()
	type object = map[string]any
	cluster := func(namespace, name string) object {
		return object{"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": object{"namespace": namespace, "name": name}}
	}
	list := func(items ...object) object {
		return object{"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "ClusterList", "items": items}
	}
	const clusters = "/apis/cluster.x-k8s.io/v1beta2"
	answers := map[string]object{
		clusters + "/clusters":                              list(cluster("default", "one"), cluster("default", "two"), cluster("team", "three")),
		clusters + "/namespaces/default/clusters":           list(cluster("default", "one"), cluster("default", "two")),
		clusters + "/namespaces/team/clusters":              list(cluster("team", "three")),
		clusters + "/namespaces/default/clusters/one":       cluster("default", "one"),
		clusters + "/namespaces/default/clusters/two":       cluster("default", "two"),
		"/api/v1/namespaces":                                {"apiVersion": "v1", "kind": "NamespaceList", "items": []object{{"metadata": object{"name": "default"}}, {"metadata": object{"name": "team"}}}},
		"/api/v1/namespaces/default/secrets/one-kubeconfig": {"apiVersion": "v1", "kind": "Secret", "data": object{"value": []byte("content")}},
		"/api": {"kind": "APIVersions", "versions": []string{"v1"}}, "/apis": {"kind": "APIGroupList", "groups": []any{}},
		"/api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": []object{{"name": "secrets", "namespaced": true, "kind": "Secret", "verbs": []string{"get"}}}},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer, ok := answers[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			answer = object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": http.StatusNotFound, "message": r.URL.Path + " not found"}
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{"c": {Server: server.URL}},
		Contexts: map[string]*clientcmdapi.Context{"c": {Cluster: "c"}}, CurrentContext: "c",
	}, path))
	return path
}

func TestGetKubeconfig(t *testing.T) {
	config := management(t)
	out, _, err := run(t, "get", "kubeconfig", "one", "--kubeconfig", config)
	require.NoError(t, err)
	assert.Equal(t, "content", out)

	file := filepath.Join(t.TempDir(), "one.kubeconfig")
	require.NoError(t, os.WriteFile(file, []byte("old"), 0o644))
	out, _, err = run(t, "get", "kubeconfig", "one", "--kubeconfig", config, "--write-to", file)
	require.NoError(t, err)
	assert.Empty(t, out)
	info, err := os.Stat(file)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode(), "it holds the key of an administrator")
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "content", string(content))

	_, _, err = run(t, "get", "kubeconfig", "nope", "--kubeconfig", config)
	require.EqualError(t, err, "there is no Cluster nope in namespace default; there are: one, three in namespace team, two")
	_, _, err = run(t, "get", "kubeconfig", "two", "--kubeconfig", config)
	require.ErrorContains(t, err, "cluster default/two has no kubeconfig yet")
}

func TestWatchOfNothing(t *testing.T) {
	_, _, err := run(t, "watch", "nope", "--kubeconfig", management(t))
	assert.ErrorContains(t, err, "there is no Cluster nope in namespace default; there are: one, ")
}

func TestACommandOfOneClusterSaysWhichThereAre(t *testing.T) {
	config := management(t)
	for want, args := range map[string][]string{
		"name a cluster: `slipway watch CLUSTER`, where CLUSTER is one of: one, two":       {"watch"},
		"name a cluster: `slipway get kubeconfig CLUSTER`, where CLUSTER is one of: three": {"get", "kubeconfig", "-n", "team"},
		"name a cluster: `slipway watch CLUSTER`":                                          {"watch", "-n", "none"},
		"one cluster at a time: `slipway get kubeconfig CLUSTER`, not one and two":         {"get", "kubeconfig", "one", "two"},
	} {
		_, _, err := run(t, append(args, "--kubeconfig", config)...)
		assert.EqualError(t, err, want)
	}
}

func TestUnknownClusters(t *testing.T) {
	wanted := types.NamespacedName{Namespace: "ns", Name: "c"}
	assert.EqualError(t, unknownCluster(wanted, nil), "there is no Cluster c in namespace ns, nor any other")
	var many []types.NamespacedName
	for i := range 12 {
		many = append(many, types.NamespacedName{Namespace: "ns", Name: fmt.Sprintf("c%02d", i)})
	}
	assert.ErrorContains(t, unknownCluster(wanted, many), "c08, c09, 2 more")
}

func TestCompletion(t *testing.T) {
	config := management(t)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{args: []string{"watch", ""}, want: "one\ntwo\n:4\n"},
		{args: []string{"get", "kubeconfig", "-n", "team", ""}, want: "three\n:4\n"},
		{args: []string{"watch", "one", ""}, want: ":4\n"},
		{args: []string{"watch", "-n", ""}, want: "default\nteam\n:4\n"},
		{args: []string{"status", "-o", ""}, want: "text\njson\n:4\n"},
	} {
		out, _, err := run(t, append([]string{"__complete", "--kubeconfig", config}, tt.args...)...)
		require.NoError(t, err)
		assert.Equal(t, tt.want, out, "%v", tt.args)
	}
}
