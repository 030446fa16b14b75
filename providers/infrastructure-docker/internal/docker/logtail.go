package docker

import (
	"context"
	"regexp"
	"strings"
	"time"

	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/docker/cloudconfig"
)

const tailLines = 15

// secrets are what kubeadm prints of them: bootstrap tokens and certificate keys.
var secrets = regexp.MustCompile(`\b[a-z0-9]{6}\.[a-z0-9]{16}\b|\b[0-9a-f]{64}\b`)

// logTail returns the end of the bootstrap's log for a message, or nothing.
func (h *Host) logTail(ctx context.Context, container string) string {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	content, err := h.Engine.ReadFile(ctx, container, cloudconfig.LogFile)
	if err != nil || len(strings.TrimSpace(string(content))) == 0 {
		return ""
	}
	return "; the log ends with:\n" + secrets.ReplaceAllString(lastLines(string(content), tailLines), "[redacted]")
}
