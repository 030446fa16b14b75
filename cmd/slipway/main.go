// Command slipway runs and inspects management planes and the clusters that they manage.
package main

import (
	"os"

	"github.com/slipway-capi/slipway/internal/cli"
)

func main() { os.Exit(cli.Main()) }
