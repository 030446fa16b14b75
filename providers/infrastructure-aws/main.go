// Command infrastructure-aws will be the manager of AWS clusters. The module keeps its place in the workspace; there are no
// kinds and no controllers in it yet, and it says so instead of running as if there were.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "the AWS provider does not exist yet in this version of Slipway")
	os.Exit(1)
}
