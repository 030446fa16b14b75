package docker

import (
	"context"
	"fmt"
	"io"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/client"
)

// HasImage implements Engine.
func (m *Moby) HasImage(ctx context.Context, image string) (bool, error) {
	_, err := m.api.ImageInspect(ctx, image)
	if cerrdefs.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// Pull implements Engine.
func (m *Moby) Pull(ctx context.Context, image string) error {
	response, err := m.api.ImagePull(ctx, image, client.ImagePullOptions{})
	if err != nil {
		return translate(err)
	}
	return response.Wait(ctx)
}

// Save implements Engine.
func (m *Moby) Save(ctx context.Context, image string) (io.ReadCloser, error) {
	archive, err := m.api.ImageSave(ctx, []string{image})
	return archive, translate(err)
}

// Machine implements Engine.
func (m *Moby) Machine(ctx context.Context) (MachineInfo, error) {
	r, err := m.api.Info(ctx, client.InfoOptions{})
	return MachineInfo{CPUs: r.Info.NCPU, Memory: r.Info.MemTotal, Architecture: architecture(r.Info.Architecture)}, translate(err)
}

// architecture translates the kernel's word, which engines report, into the one of Kubernetes.
func architecture(kernel string) string {
	switch kernel {
	case "x86_64":
		return "amd64"
	case "aarch64":
		return "arm64"
	}
	return kernel
}

// Exec implements Engine.
func (m *Moby) Exec(ctx context.Context, name string, command Command) (Result, error) {
	created, err := m.api.ExecCreate(ctx, name, client.ExecCreateOptions{
		Cmd: command.Args, AttachStdin: command.Stdin != nil, AttachStdout: true, AttachStderr: true,
	})
	if err != nil {
		return Result{}, translate(err)
	}
	stream, err := m.api.ExecAttach(ctx, created.ID, client.ExecAttachOptions{})
	if err != nil {
		return Result{}, err
	}
	defer stream.Close()
	// A hijacked connection knows no context.
	defer context.AfterFunc(ctx, stream.Close)()
	if command.Stdin != nil {
		go func() {
			_, _ = io.Copy(stream.Conn, command.Stdin) // a command that does not read its input to the end tells by its status
			_ = stream.CloseWrite()
		}()
	}
	var stdout, stderr tail
	_, err = stdcopy.StdCopy(&stdout, &stderr, stream.Reader)
	result := Result{Stdout: stdout.String(), Stderr: stderr.String()}
	if ctx.Err() != nil {
		return result, fmt.Errorf("running %s in container %s: %w", command.Args[0], name, ctx.Err())
	}
	if err != nil {
		return result, err
	}
	state, err := m.api.ExecInspect(ctx, created.ID, client.ExecInspectOptions{})
	if err == nil && state.Running {
		err = fmt.Errorf("the output of %s in container %s ended before the command", command.Args[0], name)
	}
	result.Status = state.ExitCode
	return result, err
}

// tail keeps the end of what is written to it.
type tail struct{ kept []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if extra := len(t.kept) - outputLimit; extra > 0 {
		t.kept = append(t.kept[:0], t.kept[extra:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return string(t.kept) }
