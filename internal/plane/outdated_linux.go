package plane

import (
	"fmt"
	"os"
	"strings"
)

// replaced says whether the program that a process runs is no longer the file that it was started from.
func replaced(pid int) bool {
	program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return err == nil && strings.HasSuffix(program, " (deleted)")
}
