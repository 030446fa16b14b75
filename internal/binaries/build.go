package binaries

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Progress is one step of a build that somebody may be waiting for.
type Progress struct {
	Set     Set
	Program Program
	// Index counts from 1 to Count over the programs that are built.
	Index, Count int
	Elapsed      time.Duration
	Done         bool
	// Waiting says that another process builds this set; Program is unset.
	Waiting bool
}

// Builder fills a cache.
type Builder struct {
	Cache Cache
	// Report is called when a program starts, each Every while it builds, and when it is done. It may be nil.
	Report func(Progress)
	// Every is the time between reports; zero means a second.
	Every time.Duration
	// Compile builds one program into a file; nil means the go command.
	Compile func(ctx context.Context, set Set, p Program, file string) error
}

// Ensure builds what is missing of the named programs; no names means all. Concurrent calls, also of other processes, build once.
func (b Builder) Ensure(ctx context.Context, set Set, names ...string) error {
	missing, err := b.Cache.Missing(set, names...)
	if err != nil || len(missing) == 0 {
		return err
	}
	if err := os.MkdirAll(b.Cache.Dir(set), 0o755); err != nil {
		return fmt.Errorf("making the cache: %w", err)
	}
	unlock, err := b.lock(ctx, set)
	if err != nil {
		return err
	}
	defer unlock()
	// Whoever held the lock before may have built them.
	if missing, err = b.Cache.Missing(set, names...); err != nil {
		return err
	}
	for i, p := range missing {
		if err := b.build(ctx, Progress{Set: set, Program: p, Index: i + 1, Count: len(missing)}); err != nil {
			return fmt.Errorf("building %s %s: %w", p.Name, set.Version, err)
		}
	}
	return nil
}

// build compiles into a file beside the final one and renames it, so that nobody ever sees half a program.
func (b Builder) build(ctx context.Context, progress Progress) error {
	final := b.Cache.Path(progress.Set, progress.Program.Name)
	temporary := fmt.Sprintf("%s.%d.tmp", final, os.Getpid())
	defer os.Remove(temporary)
	stop := b.follow(progress)
	defer stop()
	compile := b.Compile
	if compile == nil {
		compile = compileWithGo
	}
	start := time.Now()
	if err := compile(ctx, progress.Set, progress.Program, temporary); err != nil {
		return err
	}
	if err := os.Rename(temporary, final); err != nil {
		return err
	}
	stop()
	progress.Done, progress.Elapsed = true, time.Since(start)
	b.report(progress)
	return nil
}

// follow reports at once and then regularly until the returned function is called, which may be called again.
func (b Builder) follow(progress Progress) (stop func()) {
	every := b.Every
	if every == 0 {
		every = time.Second
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	start := time.Now()
	b.report(progress)
	go func() {
		defer close(ended)
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				progress.Elapsed = time.Since(start)
				b.report(progress)
			}
		}
	}()
	return func() { cancel(); <-ended }
}

func (b Builder) report(p Progress) {
	if b.Report != nil {
		b.Report(p)
	}
}

func compileWithGo(ctx context.Context, set Set, p Program, file string) error {
	flags := append([]string{"-s", "-w"}, sources[set.Name].stamp(set.Version)...)
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", strings.Join(flags, " "), "-o", file, p.Package)
	cmd.Dir = set.Module
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build %s in %s: %w\n%s", p.Package, filepath.Base(set.Module), err, lastLines(out.String(), 20))
	}
	return nil
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
