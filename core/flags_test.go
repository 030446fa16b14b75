package main

import (
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func parse(t *testing.T, args ...string) (*pflag.FlagSet, error) {
	t.Helper()
	o, set := &options{}, pflag.NewFlagSet("test", pflag.ContinueOnError)
	p := program(o)
	p.Flags(set)
	require.NoError(t, set.Parse(args))
	return set, p.Validate()
}

// Conformance: MG-02, MG-11, MG-20
func TestTheCoresFlagsAreThoseOfTheReference(t *testing.T) {
	set, err := parse(t)
	require.NoError(t, err)
	for name, want := range map[string]string{
		"cluster-concurrency": "50", "machineset-concurrency": "50", "machinedeployment-concurrency": "50", "machinepool-concurrency": "50",
		"machinehealthcheck-concurrency": "50", "clustertopology-concurrency": "50", "machine-concurrency": "100", "clustercache-concurrency": "100",
		"clusterclass-concurrency": "10", "extensionconfig-concurrency": "10", "clusterresourceset-concurrency": "10",
		"remote-connection-grace-period": "50s", "remote-conditions-grace-period": "5m0s", "clustercache-client-qps": "20", "clustercache-client-burst": "30",
		"machineset-preflight-checks": "[All]", "additional-sync-machine-labels": "[]", "additional-sync-machine-annotations": "[]",
		"runtime-extension-client-cert-file": "", "runtime-extension-client-key-file": "",
	} {
		flag := set.Lookup(name)
		if assert.NotNil(t, flag, name) {
			assert.Equal(t, want, flag.Value.String(), name)
		}
	}
	p := program(&options{})
	assert.Equal(t, "controller-leader-election-capi", p.LeaderElectionID)
	assert.True(t, p.KeepSecretData("c-kubeconfig"))
	assert.False(t, p.KeepSecretData("c-ca"), "private keys stay out of memory")
}

// Conformance: MG-04, MG-05
func TestBadFlagsEndTheCore(t *testing.T) {
	for arg, want := range map[string]string{
		"--machineset-preflight-checks=Everything":        `unknown check "Everything"`,
		"--additional-sync-machine-labels=(":              "--additional-sync-machine-labels",
		"--additional-sync-machine-annotations=[":         "--additional-sync-machine-annotations",
		"--remote-conditions-grace-period=1m":             "at least 2m",
		"--remote-connection-grace-period=6m":             "greater than",
		"--runtime-extension-client-cert-file=client.crt": "must be set together",
	} {
		_, err := parse(t, arg)
		assert.ErrorContains(t, err, want, arg)
	}
	_, err := parse(t, "--machineset-preflight-checks=KubeadmVersionSkew,ControlPlaneIsStable", "--additional-sync-machine-labels=^a", "--remote-conditions-grace-period=2m")
	assert.NoError(t, err)
}
