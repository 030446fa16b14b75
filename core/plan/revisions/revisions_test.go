package revisions_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/plan/revisions"
)

func spec(version, infra string) clusterv1.MachineSpec {
	return clusterv1.MachineSpec{ClusterName: "c", Version: version,
		InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: "example.org", Kind: "FakeMachineTemplate", Name: infra}}
}

func deployment(version, infra string) *clusterv1.MachineDeployment {
	md := &clusterv1.MachineDeployment{ObjectMeta: metav1.ObjectMeta{Name: "md", UID: "md"}}
	md.Spec.ClusterName = "c"
	md.Spec.Template.Spec = spec(version, infra)
	md.Spec.Template.Metadata.Labels = map[string]string{"tier": "web"}
	return md
}

func set(name string, number int, version, infra string) clusterv1.MachineSet {
	yes := true
	s := clusterv1.MachineSet{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{clusterv1.RevisionAnnotation: strconv.Itoa(number)},
		OwnerReferences: []metav1.OwnerReference{{Kind: "MachineDeployment", Name: "md", UID: "md", Controller: &yes}}}}
	s.Spec.Template.Spec = spec(version, infra)
	s.Spec.Template.Metadata.Labels = map[string]string{"tier": "web", clusterv1.MachineDeploymentUniqueLabel: name, clusterv1.ClusterNameLabel: "c"}
	return s
}

// Conformance: MD-13
func TestUndo(t *testing.T) {
	three := []clusterv1.MachineSet{set("a", 1, "v1.36.0", "small"), set("c", 4, "v1.37.0", "large"), set("b", 3, "v1.37.0", "small")}
	going := set("b", 3, "v1.37.0", "small")
	going.DeletionTimestamp = &metav1.Time{}
	*going.DeletionTimestamp = metav1.Now()
	foreign := set("x", 9, "v1.30.0", "small")
	foreign.OwnerReferences[0].UID = "other"
	for _, c := range []struct {
		name    string
		sets    []clusterv1.MachineSet
		to      int
		version string
		infra   string
		err     error
		says    string
	}{
		{"the previous one", three, 0, "v1.37.0", "small", nil, ""},
		{"one by number", three, 1, "v1.36.0", "small", nil, ""},
		{"the present one", three, 4, "", "", revisions.ErrCurrent, "4: its template is the present one already; there are 4 (MachineSet c, the present one), 3 (MachineSet b), 1 (MachineSet a)"},
		{"one that is gone", three, 2, "", "", revisions.ErrUnknown, "2: there is no such revision; there are 4 (MachineSet c, the present one), 3 (MachineSet b), 1 (MachineSet a)"},
		{"nothing before", three[1:2], 0, "", "", revisions.ErrUnknown, "there is no such revision before this one; there are 4"},
		{"no set at all", nil, 0, "", "", revisions.ErrUnknown, "there is none at all"},
		{"a set in deletion is none", []clusterv1.MachineSet{three[1], going}, 3, "", "", revisions.ErrUnknown, ""},
		{"that of another deployment neither", []clusterv1.MachineSet{three[1], foreign}, 9, "", "", revisions.ErrUnknown, ""},
		{"the way back from a template whose set was never made", three[:1], 0, "v1.36.0", "small", nil, ""},
		{"a restart keeps the template: what counts is the one before", []clusterv1.MachineSet{set("r", 5, "v1.37.0", "large"), three[1], three[0]}, 0, "v1.36.0", "small", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			md := deployment("v1.37.0", "large")
			got, err := revisions.Undo(md, c.sets, c.to)
			if c.err != nil {
				require.ErrorIs(t, err, c.err)
				require.ErrorContains(t, err, "MachineDeployment md")
				require.ErrorContains(t, err, c.says)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, spec(c.version, c.infra), got.Spec)
			assert.Equal(t, map[string]string{"tier": "web"}, got.Metadata.Labels, "no hash, and nothing else that only sets have")
		})
	}
}

func TestUndoKeepsWhatChangedInPlace(t *testing.T) {
	md, nine := deployment("v1.37.0", "small"), int32(9)
	md.Spec.Template.Spec.MinReadySeconds = &nine
	md.Spec.Template.Metadata.Labels[clusterv1.MachineDeploymentUniqueLabel] = "left by a user"
	got, err := revisions.Undo(md, []clusterv1.MachineSet{set("a", 1, "v1.36.0", "small")}, 0)
	require.NoError(t, err)
	assert.Equal(t, &nine, got.Spec.MinReadySeconds)
	assert.NotContains(t, got.Metadata.Labels, clusterv1.MachineDeploymentUniqueLabel)
	assert.Contains(t, md.Spec.Template.Metadata.Labels, clusterv1.MachineDeploymentUniqueLabel, "what is given is not changed")
}

func TestTopologiesGoBackThemselves(t *testing.T) {
	md := deployment("v1.37.0", "small")
	md.Labels = map[string]string{clusterv1.ClusterTopologyOwnedLabel: ""}
	_, err := revisions.Undo(md, []clusterv1.MachineSet{set("a", 1, "v1.36.0", "small")}, 0)
	require.ErrorIs(t, err, revisions.ErrTopology)
	require.ErrorContains(t, err, "change spec.topology of Cluster c")
}

func TestList(t *testing.T) {
	two := int32(2)
	a, b := set("a", 1, "v1.36.0", "small"), set("b", 2, "v1.37.0", "small")
	b.Spec.Replicas = &two
	strange := set("strange", 0, "v1.36.0", "small")
	strange.Annotations[clusterv1.RevisionAnnotation] = "first"
	assert.Equal(t, []revisions.Revision{
		{Number: 2, Set: "b", Replicas: 2, Current: true},
		{Number: 1, Set: "a", Changes: []string{"Version v1.36.0, v1.37.0 required"}},
	}, revisions.List(deployment("v1.37.0", "small"), []clusterv1.MachineSet{a, strange, b}))
}
