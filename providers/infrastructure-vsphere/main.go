// Command infrastructure-vsphere will be the manager of vSphere clusters. The module keeps its place in the workspace; there are no
// kinds and no controllers in it yet, and it says so instead of running as if there were.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "the vSphere provider does not exist yet in this version of Slipway")
	os.Exit(1)
}
