package quickstart

import (
	"io/fs"
	"os"
	"testing"
	"testing/fstest"

	"github.com/slipway-capi/slipway/contract/testenv"
	"github.com/slipway-capi/slipway/internal/manifests"
	"github.com/slipway-capi/slipway/internal/plane"
)

var env *testenv.Environment

// TestMain starts an API server with the kinds that Slipway brings along; no manager runs.
func TestMain(m *testing.M) {
	crds, err := plane.Definitions()
	if err != nil {
		panic(err)
	}
	content, err := manifests.Encode(crds)
	if err != nil {
		panic(err)
	}
	os.Exit(testenv.Main(m, &env, testenv.Options{Files: []fs.FS{fstest.MapFS{"crds.yaml": {Data: content}}}}))
}
