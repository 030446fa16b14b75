package cloudconfig

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// StepsFile holds when each step began and how it ended, with its place in the log; see [Steps].
const StepsFile = StateFolder + "/steps"

// Step is one step of a bootstrap that has begun.
type Step struct {
	// Name says what it is, where possible as the field of the bootstrap configuration: preKubeadmCommands[0].
	Name string
	// From and To are where its output is in the log; To is -1 where the output goes on to the end.
	From, To int64
	// Ended says that the step is over, Status how it ended.
	Ended  bool
	Status int
}

// Steps reads what the script has noted. What it does not understand it leaves out: the machine may have died in the
// middle of a line.
func Steps(text string) []Step {
	var out []Step
	for line := range strings.SplitSeq(text, "\n") {
		switch fields := strings.Split(line, "\t"); {
		case len(fields) == 3 && fields[0] == "begin":
			from, err := strconv.ParseInt(strings.TrimSpace(fields[2]), 10, 64)
			if err != nil || from < 0 {
				continue
			}
			if n := len(out); n > 0 {
				out[n-1].To = max(from, out[n-1].From)
			}
			out = append(out, Step{Name: fields[1], From: from, To: -1})
		case len(fields) == 2 && fields[0] == "end" && len(out) > 0 && !out[len(out)-1].Ended:
			if status, err := strconv.Atoi(fields[1]); err == nil {
				out[len(out)-1].Ended, out[len(out)-1].Status = true, status
			}
		}
	}
	return out
}

// names gives each command of runcmd its name in the bootstrap configuration: those before the one that runs kubeadm, that
// one, and those after it. Without such a command they are only counted.
func names(commands []string) []string {
	out := make([]string, len(commands))
	at := slices.IndexFunc(commands, func(c string) bool { return kubeadmVerb(c) != "" })
	for i := range commands {
		switch {
		case at < 0:
			out[i] = fmt.Sprintf("runcmd[%d]", i)
		case i < at:
			out[i] = fmt.Sprintf("preKubeadmCommands[%d]", i)
		case i == at:
			out[i] = kubeadmVerb(commands[i])
		default:
			out[i] = fmt.Sprintf("postKubeadmCommands[%d]", i-at-1)
		}
	}
	return out
}

// kubeadmVerb is what a command lets kubeadm do: "kubeadm init", "kubeadm join", or nothing.
func kubeadmVerb(command string) string {
	words := strings.Fields(strings.ReplaceAll(command, "'", ""))
	for i := range len(words) - 1 {
		if (words[i] == "kubeadm" || strings.HasSuffix(words[i], "/kubeadm")) && (words[i+1] == "init" || words[i+1] == "join") {
			return "kubeadm " + words[i+1]
		}
	}
	return ""
}

// Secrets are the parts of a document that must not be shown: contents of files, and texts that may hold secret values.
func (d Document) Secrets() (files, texts [][]byte) {
	for _, f := range d.Files {
		files = append(files, f.Content)
	}
	for _, u := range d.Users {
		if u.Passwd != "" {
			files = append(files, []byte(u.Passwd))
		}
	}
	for _, c := range slices.Concat(d.BootCommands, d.RunCommands) {
		texts = append(texts, []byte(c))
	}
	return files, texts
}
