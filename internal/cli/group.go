package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// group is a command that only holds others. What it does not hold is an error, where cobra would show the help and end well.
func group(use, short string) *cobra.Command {
	return &cobra.Command{
		Use:   use,
		Short: short,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			var names []string
			for _, c := range cmd.Commands() {
				if c.IsAvailableCommand() {
					names = append(names, c.Name())
				}
			}
			return fmt.Errorf("there is no %q to %s; there is: %s", args[0], cmd.CommandPath(), strings.Join(names, ", "))
		},
	}
}
