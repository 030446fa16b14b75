package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-capi/slipway/internal/plane"
)

func newStatus(o *options) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Tell how the management plane is and what it uses",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			folder, err := o.folder()
			if err != nil {
				return err
			}
			status, err := plane.Read(folder)
			if err != nil {
				return err
			}
			return printStatus(o.out, output, folder, status, status.Usages(), time.Now())
		},
	}
	addOutput(cmd, &output)
	return cmd
}

func addOutput(cmd *cobra.Command, output *string) { addFormats(cmd, output, "text", "json") }

// addFormats adds the flag of the form of the output; the first form is the default.
func addFormats(cmd *cobra.Command, output *string, formats ...string) {
	last := len(formats) - 1
	listed := strings.Join(formats[:last], ", ") + " or " + formats[last]
	cmd.Flags().StringVarP(output, "output", "o", formats[0], "form of the output: "+listed)
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if !slices.Contains(formats, *output) {
			return fmt.Errorf("--output must be %s, not %q", listed, *output)
		}
		return nil
	}
}

type statusDocument struct {
	plane.Status
	StateDir string                 `json:"stateDir"`
	Usage    map[string]plane.Usage `json:"usage,omitempty"`
	// Resident is the memory of all processes in bytes.
	Resident int64 `json:"resident"`
}

func printStatus(w io.Writer, output string, folder plane.Folder, status plane.Status, usages map[string]plane.Usage, now time.Time) error {
	document := statusDocument{Status: status, StateDir: string(folder), Usage: usages}
	for _, u := range usages {
		document.Resident += u.Resident
	}
	if output == "json" {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(document)
	}
	return document.print(w, now)
}

func (d statusDocument) print(w io.Writer, now time.Time) error {
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintf(t, "Phase:\t%s\n", d.Phase)
	fmt.Fprintf(t, "State:\t%s\n", d.StateDir)
	if d.Failure != "" {
		fmt.Fprintf(t, "Failure:\t%s\n", d.Failure)
	}
	if d.Supervisor == 0 {
		return t.Flush()
	}
	fmt.Fprintf(t, "Server:\t%s\n", d.Server)
	fmt.Fprintf(t, "Kubeconfig:\t%s\n", d.Kubeconfig)
	if d.StartTook != 0 {
		fmt.Fprintf(t, "Start took:\t%s\n", seconds(d.StartTook))
	}
	fmt.Fprintf(t, "Memory:\t%s\n", mebibytes(d.Resident))
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	fmt.Fprintln(t, "PROCESS\tPID\tMEMORY\tCPU\tRESTARTS\tUP\tLOG")
	u := d.Usage["supervisor"]
	fmt.Fprintf(t, "supervisor\t%d\t%s\t%s\t0\t%s\t\n", d.Supervisor, mebibytes(u.Resident), seconds(u.CPU), age(now, d.Started))
	for _, p := range d.Processes {
		u := d.Usage[p.Name]
		pid, up := "-", p.LastExit
		if p.PID != 0 {
			pid, up = fmt.Sprint(p.PID), age(now, p.Started)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%s\t%s\n", p.Name, pid, mebibytes(u.Resident), seconds(u.CPU), p.Restarts, up, p.Log)
	}
	return t.Flush()
}

func mebibytes(bytes int64) string { return fmt.Sprintf("%d MiB", (bytes+1<<19)>>20) }

func age(now, then time.Time) string { return now.Sub(then).Round(time.Second).String() }
