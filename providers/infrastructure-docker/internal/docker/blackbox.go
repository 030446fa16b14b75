package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/slipway-capi/slipway/contract/bootstrapreport"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/docker/cloudconfig"
)

// What is known of a failure before anything has been looked at.
var (
	errImage = errors.New("no image")
	errTime  = fmt.Errorf("%w: time is up", ErrBootstrap)
	errLost  = fmt.Errorf("%w: it was cut short", ErrBootstrap)
	errData  = fmt.Errorf("%w before it began", ErrBootstrap)
)

// ErrData says that the bootstrap data cannot be carried out.
func ErrData(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errData, fmt.Errorf(format, args...))
}

const (
	// lookTimeout bounds each look into a machine that may be in any state.
	lookTimeout = 15 * time.Second
	// stepOutput is how much of a step's output is read, in bytes.
	stepOutput = 1 << 16
	// shownSteps is how many failed steps are told.
	shownSteps = 3
	// sharedLines is how many lines of each step's output are kept where several steps are told.
	sharedLines = 6
)

// failure is an error with what the machine has to say about it.
type failure struct {
	error
	report bootstrapreport.Report
}

func (f failure) Unwrap() error { return f.error }

// explain is the report about the end of a stage.
func explain(stage Stage, err error) *bootstrapreport.Report {
	var f failure
	if errors.As(err, &f) {
		return &f.report
	}
	r := bootstrapreport.Report{Retried: !errors.Is(err, ErrBootstrap), Cause: bootstrapreport.Unknown, Step: "the bootstrap"}
	switch {
	case errors.Is(err, errData):
		r.Step, r.Cause = "reading the bootstrap data", bootstrapreport.BootstrapDataInvalid
	case errors.Is(err, errImage):
		r.Step, r.Cause = "getting the image of the machine", bootstrapreport.MachineImageUnavailable
	case stage == Creating:
		r.Step, r.Cause = "starting the container", bootstrapreport.MachineNotStarted
	case stage == Starting:
		r.Step, r.Cause = "waiting for containerd", bootstrapreport.ContainerRuntimeDown
	case stage == Preloading:
		r.Step, r.Cause = "loading images", bootstrapreport.ContainerImageUnavailable
	}
	r.Detail = strings.Join(strings.Fields(bootstrapreport.Redactor{}.Redact(err.Error())), " ")
	return &r
}

// blackBox adds to the failure of a bootstrap what the machine has recorded. A machine that does not answer takes nothing
// away from what is known.
func (h *Host) blackBox(ctx context.Context, s MachineSpec, data []byte, err error) error {
	if errors.Is(err, errData) {
		return err
	}
	secrets := secretsOf(s, data)
	steps := telling(cloudconfig.Steps(h.look(ctx, s.Container(), "cat "+cloudconfig.StepsFile)), errors.Is(err, errTime))
	var report *bootstrapreport.Report
	for i, step := range steps[:min(len(steps), shownSteps)] {
		e := bootstrapreport.Execution{Step: step.Name, Status: step.Status, TimedOut: !step.Ended && errors.Is(err, errTime), Output: h.look(ctx, s.Container(), readLog(step))}
		if i == 0 || strings.HasPrefix(step.Name, "kubeadm") {
			e.Services = h.look(ctx, s.Container(), servicesScript)
		}
		r := bootstrapreport.Diagnose(e, secrets)
		if report == nil {
			report = &r
			continue
		}
		report.Then = append(report.Then, r.Headline())
		report.Output = strings.Trim(lastLines(report.Output, sharedLines)+"\n"+lastLines(r.Output, sharedLines), "\n")
	}
	if report == nil {
		report = &bootstrapreport.Report{Step: "the bootstrap", Detail: secrets.Redact(err.Error())}
	}
	if errors.Is(err, errLost) {
		report.Cause, report.Detail = bootstrapreport.Interrupted, secrets.Redact(err.Error())
	}
	return failure{error: err, report: *report}
}

// telling are the steps to report: those that failed, and one that was cut short.
func telling(steps []cloudconfig.Step, timedOut bool) []cloudconfig.Step {
	var out []cloudconfig.Step
	for i, step := range steps {
		if step.Status != 0 || (!step.Ended && i == len(steps)-1) {
			out = append(out, step)
		}
	}
	if n := len(out); timedOut && n > 1 && !out[n-1].Ended {
		// What did not end is why time was up.
		out = append([]cloudconfig.Step{out[n-1]}, out[:n-1]...)
	}
	return out
}

// secretsOf knows what was put on the machine. Data that cannot be read is a secret as a whole.
func secretsOf(s MachineSpec, data []byte) bootstrapreport.Redactor {
	document, err := cloudconfig.Parse(data, variables(s))
	if err != nil {
		return bootstrapreport.NewRedactor(data)
	}
	files, texts := document.Secrets()
	return bootstrapreport.NewRedactor(files...).AndValues(texts...)
}

// readLog prints the end of a step's output.
func readLog(step cloudconfig.Step) string {
	script := fmt.Sprintf("tail -c +%d %s", step.From+1, cloudconfig.LogFile)
	if step.To >= 0 {
		script += fmt.Sprintf(" | head -c %d", step.To-step.From)
	}
	return fmt.Sprintf("%s | tail -c %d", script, stepOutput)
}

// servicesScript prints what the machine says about its services: which are down, what the kubelet complains about, and the
// last words of control plane containers that were started more than once. It needs no client of the container runtime.
const servicesScript = `
for unit in containerd kubelet; do
  state=$(systemctl is-active $unit); [ "$state" = active ] || echo "service $unit is $state"
done
journalctl --no-pager --quiet --output=cat --lines=300 --unit=kubelet 2>/dev/null |
  grep -E '^[EF][0-9]{4} |^Error|^kubelet.service: Failed' | grep -v 'mirror pod' | tail -n 4
for name in etcd kube-apiserver kube-controller-manager kube-scheduler; do
  last=$(ls /var/log/pods/kube-system_$name-*/$name/*.log 2>/dev/null | grep -v '/0\.log$' | sort -V | tail -n 1)
  [ -z "$last" ] || echo "container $name was started again after: $(tail -n 1 "$last" | cut -d ' ' -f 4-)"
done`

// look runs a script in a machine and returns what it printed; nothing if that cannot be had.
func (h *Host) look(ctx context.Context, container, script string) string {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	result, err := h.Engine.Exec(ctx, container, shell(script))
	if err != nil {
		return ""
	}
	return result.Stdout
}
