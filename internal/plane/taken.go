package plane

import (
	"fmt"
	"net"
	"strings"

	"github.com/slipway-capi/slipway/internal/ports"
)

// reserve checks the port that was asked for the API server.
func reserve(port int) error {
	l, err := net.Listen("tcp", ports.Address(port))
	if err != nil {
		return fmt.Errorf("%s; free it, or choose another with --api-port (0 takes any that is free): %w", taken(portAPI, port), err)
	}
	return l.Close()
}

// taken says that a port is taken, and by whom if that can be seen.
func taken(name string, port int) string {
	text := fmt.Sprintf("port %d of %s is taken", port, name)
	if holder := portHolder(port); holder != "" {
		return text + " by " + holder
	}
	return fmt.Sprintf("%s (root sees by whom: ss -ltnp 'sport = :%d')", text, port)
}

// movedAPI tells people that the API server has another port than the last time, which breaks copies of the kubeconfig.
func movedAPI(before, now ports.Set, folder Folder) string {
	was := before[portAPI]
	if was == 0 || was == now[portAPI] {
		return ""
	}
	return fmt.Sprintf("%s, so the API server has moved to port %d: %s is written again, and copies of it no longer work; --api-port=PORT keeps a port",
		taken(portAPI, was), now[portAPI], folder.Kubeconfig())
}

// takenHint explains what a process said before it died, if it did not get a port: somebody took it after it was found free.
func takenHint(said string, process string, all ports.Set) string {
	if !strings.Contains(said, "address already in use") {
		return ""
	}
	var found []string
	for name, port := range all {
		if name == process || strings.HasPrefix(name, process+"-") {
			if holder := portHolder(port); holder != "" {
				found = append(found, taken(name, port))
			}
		}
	}
	if len(found) == 0 {
		return "\nAnother process took a port after it was found free. `slipway down` and `slipway up` choose another one."
	}
	return "\n" + strings.Join(found, "; ") + ". `slipway down` and `slipway up` choose another one."
}
