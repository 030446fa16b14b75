package supervise

import "syscall"

// childAttributes puts a child into a process group of its own, so that Ctrl-C in a terminal reaches only the supervisor,
// and has the kernel end it when the supervisor is killed.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
