// Command strip-capabilities is an OCI runtime that takes out of a container what the host itself may not give, and then
// runs runc. Some sandboxes hold back capabilities such as CAP_SYS_RESOURCE; `docker run --privileged` fails there with
// "unable to apply caps". It is registered with dockerd by start.sh, only on such hosts.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// names are the capabilities in the order of their bits, as in linux/capability.h.
var names = strings.Fields(`CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE
NET_BIND_SERVICE NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT
SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE
MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE`)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "strip-capabilities:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	held, err := bounding()
	if err != nil {
		return err
	}
	for i, a := range args {
		var file string
		process := false
		switch {
		case (a == "--bundle" || a == "-b") && i+1 < len(args):
			file = filepath.Join(args[i+1], "config.json")
		case (a == "--process" || a == "-p") && i+1 < len(args):
			file, process = args[i+1], true
		default:
			continue
		}
		if err := strip(file, process, held); err != nil {
			return err
		}
	}
	runc, err := exec.LookPath("runc")
	if err != nil {
		return fmt.Errorf("looking for runc: %w", err)
	}
	return syscall.Exec(runc, append([]string{"runc"}, args...), os.Environ())
}

// bounding reads which capabilities this process, and so the host, may give away.
func bounding() (map[string]bool, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return nil, err
	}
	for _, line := range strings.Split(string(status), "\n") {
		value, ok := strings.CutPrefix(line, "CapBnd:")
		if !ok {
			continue
		}
		bits, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64)
		if err != nil {
			return nil, fmt.Errorf("reading the bounding set: %w", err)
		}
		held := map[string]bool{}
		for i, n := range names {
			held["CAP_"+n] = bits&(1<<i) != 0
		}
		return held, nil
	}
	return nil, fmt.Errorf("the kernel tells no bounding set")
}

// strip removes capabilities that are not held from a bundle's process, or from the process file of an exec.
func strip(file string, process bool, held map[string]bool) error {
	raw, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return nil // runc says what is wrong
	}
	if err != nil {
		return err
	}
	var doc map[string]any
	if err := json.Unmarshal(raw, &doc); err != nil {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	p := doc
	if !process {
		p, _ = doc["process"].(map[string]any)
	}
	sets, _ := p["capabilities"].(map[string]any)
	for kind, list := range sets {
		items, _ := list.([]any)
		kept := []any{}
		for _, c := range items {
			if name, ok := c.(string); ok && held[name] {
				kept = append(kept, name)
			}
		}
		sets[kind] = kept
	}
	// Without CAP_SYS_RESOURCE a limit cannot be raised above the host's own, nor the score of the killer lowered.
	if !held["CAP_SYS_RESOURCE"] && p != nil {
		delete(p, "rlimits")
		delete(p, "oomScoreAdj")
	}
	out, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	return os.WriteFile(file, out, 0o600)
}
