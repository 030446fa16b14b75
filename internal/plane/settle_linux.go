package plane

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// releaseProgram asks the kernel to take the pages of a process that are copies of files and that nobody else uses.
func releaseProgram(pid int) {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return
	}
	process, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(process)
	for _, area := range programAreas(string(maps)) {
		// Without the capability CAP_SYS_NICE it fails, and the pages stay until the kernel itself wants them.
		_, _, _ = unix.Syscall6(unix.SYS_PROCESS_MADVISE, uintptr(process),
			uintptr(unsafe.Pointer(&area)), 1, unix.MADV_PAGEOUT, 0, 0)
	}
}

// area has the layout of the kernel's struct iovec; the addresses are those of another process.
type area struct{ start, length uintptr }

// programAreas are the read-only private mappings of files, in the form of /proc/<pid>/maps.
func programAreas(maps string) []area {
	var areas []area
	for line := range strings.Lines(maps) {
		fields := strings.Fields(line)
		if len(fields) < 6 || !strings.HasPrefix(fields[5], "/") || fields[1][1] == 'w' || fields[1][3] != 'p' {
			continue
		}
		from, to, _ := strings.Cut(fields[0], "-")
		start, err1 := strconv.ParseUint(from, 16, 64)
		end, err2 := strconv.ParseUint(to, 16, 64)
		if err1 == nil && err2 == nil {
			areas = append(areas, area{uintptr(start), uintptr(end - start)})
		}
	}
	return areas
}
