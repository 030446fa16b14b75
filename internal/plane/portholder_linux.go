package plane

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// listening is the state of a socket that waits for connections, in /proc/net/tcp.
const listening = "0A"

// portHolder names the process that listens on a port, as far as this user may see it; else it is empty.
func portHolder(port int) string {
	sockets := map[string]bool{}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		content, _ := os.ReadFile(table)
		for _, inode := range listeners(string(content), port) {
			sockets["socket:["+inode+"]"] = true
		}
	}
	if len(sockets) == 0 {
		return ""
	}
	files, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, file := range files {
		if target, err := os.Readlink(file); err == nil && sockets[target] {
			pid := strings.Split(file, "/")[2]
			name, _ := os.ReadFile("/proc/" + pid + "/comm")
			return fmt.Sprintf("process %s (%s)", pid, strings.TrimSpace(string(name)))
		}
	}
	return ""
}

// listeners are the inodes of the sockets of a table that listen on a port.
func listeners(table string, port int) []string {
	var inodes []string
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) < 10 || fields[3] != listening {
			continue
		}
		_, number, _ := strings.Cut(fields[1], ":")
		if n, err := strconv.ParseInt(number, 16, 32); err == nil && int(n) == port {
			inodes = append(inodes, fields[9])
		}
	}
	return inodes
}
