package manager

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-logr/logr"
)

// logLevel is the verbosity of a log; it can be changed while the log is in use.
type logLevel struct{ slog.LevelVar }

// set makes the log tell everything up to V(verbosity).
func (l *logLevel) set(verbosity int) { l.Set(slog.Level(-verbosity)) }

// newLogger makes a log in text or JSON whose verbosity follows the level.
func newLogger(out io.Writer, format string, level *logLevel) logr.Logger {
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: showVerbosity}
	if format == "json" {
		return logr.FromSlogHandler(slog.NewJSONHandler(out, options))
	}
	return logr.FromSlogHandler(slog.NewTextHandler(out, options))
}

// showVerbosity writes verbosity as V(n) numbers; slog would show them as distances from DEBUG.
func showVerbosity(groups []string, a slog.Attr) slog.Attr {
	level, ok := a.Value.Any().(slog.Level)
	if len(groups) > 0 || a.Key != slog.LevelKey || !ok {
		return a
	}
	if level >= slog.LevelError {
		return slog.String(slog.LevelKey, "ERROR")
	}
	return slog.String(slog.LevelKey, "V"+strconv.Itoa(max(0, -int(level))))
}

// ServeHTTP changes the verbosity: PUT with a number as body.
func (l *logLevel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPut {
		w.Header().Set("Allow", http.MethodPut)
		http.Error(w, "use PUT with a number", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 64))
	if err != nil {
		http.Error(w, "reading the body failed", http.StatusBadRequest)
		return
	}
	verbosity, err := strconv.Atoi(strings.TrimSpace(string(body)))
	if err != nil || verbosity < 0 || verbosity > 10 {
		http.Error(w, "the verbosity must be a number from 0 to 10", http.StatusBadRequest)
		return
	}
	l.set(verbosity)
	fmt.Fprintf(w, "verbosity is %d\n", verbosity)
}
