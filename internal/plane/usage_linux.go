package plane

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// ticks is the unit of processor time in /proc, the same on every Linux.
const ticks = time.Second / 100

func usage(pid int) (Usage, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Usage{}, err
	}
	return parseStat(string(content), int64(os.Getpagesize()))
}

// parseStat reads the fields behind the program's name, which may itself hold blanks and parentheses.
func parseStat(stat string, pageSize int64) (Usage, error) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 22 {
		return Usage{}, fmt.Errorf("unknown form of /proc/<pid>/stat: %q", stat)
	}
	var numbers [3]int64
	for i, field := range []int{11, 12, 21} {
		n, err := strconv.ParseInt(fields[field], 10, 64)
		if err != nil {
			return Usage{}, err
		}
		numbers[i] = n
	}
	return Usage{CPU: time.Duration(numbers[0]+numbers[1]) * ticks, Resident: numbers[2] * pageSize}, nil
}
