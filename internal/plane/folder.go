package plane

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrForeign says that a folder holds what no plane has put there.
var ErrForeign = errors.New("is no state folder of a management plane")

// Folder is the state folder of a plane.
type Folder string

// Kubeconfig is the administrator's kubeconfig.
func (f Folder) Kubeconfig() string { return f.path("kubeconfig") }

// Log is the log of a child process, or of the supervisor.
func (f Folder) Log(name string) string { return f.path("logs", name+".log") }

func (f Folder) lock() string   { return f.path("lock") }
func (f Folder) config() string { return f.path("config.json") }
func (f Folder) ports() string  { return f.path("ports.json") }
func (f Folder) status() string { return f.path("status.json") }
func (f Folder) pki() string    { return f.path("pki") }
func (f Folder) data() string   { return f.path("etcd") }

// etcdBackups is where snapshots of the etcd of workload clusters are kept that are to be stored in a directory.
func (f Folder) etcdBackups() string { return f.path(kept) }

func (f Folder) userKubeconfig(name string) string { return f.path("kubeconfigs", name) }

func (f Folder) path(elements ...string) string {
	return filepath.Join(append([]string{string(f)}, elements...)...)
}

// entries are all that a plane puts into its folder. The configuration comes last: it is what the folder is known by.
var entries = []string{"etcd", "logs", "pki", "kubeconfigs", "kubeconfig", "ports.json", "status.json", "lock", "config.json"}

// kept outlives the plane whose folder it is in: somebody may need the snapshots of clusters when all else is gone.
const kept = "etcd-backups"

// Check returns an error if the folder cannot become a plane's, or already holds something else.
func (f Folder) Check() error {
	found, err := os.ReadDir(string(f))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("looking into the state folder: %w", err)
	case f.owned():
		return nil
	}
	var foreign []string
	for _, entry := range found {
		if name := strings.TrimSuffix(entry.Name(), ".tmp"); name != kept && !slices.Contains(entries, name) || name == "config.json" {
			foreign = append(foreign, entry.Name())
		}
	}
	if len(foreign) == 0 {
		return nil
	}
	return fmt.Errorf("%s %w: it holds %s", f, ErrForeign, some(foreign, 3))
}

// owned says whether the folder holds the configuration of a plane. Others have files of that name too.
func (f Folder) owned() bool {
	var config Config
	return readJSON(f.config(), &config) == nil && config.Programs[etcd] != "" && config.Programs[apiServer] != ""
}

// Delete removes the state of a plane that does not run, and nothing else that lies in its folder. It says whether there was any, and what
// is left.
func Delete(folder Folder) (found bool, left []string, err error) {
	status, err := Read(folder)
	if err != nil {
		return false, nil, err
	}
	if status.Supervisor != 0 {
		return true, nil, errors.New("the plane runs; stop it before its state is deleted")
	}
	if !folder.owned() {
		return false, nil, folder.Check()
	}
	for _, name := range entries {
		for _, suffix := range []string{".tmp", ""} {
			if err := os.RemoveAll(folder.path(name + suffix)); err != nil {
				return true, nil, fmt.Errorf("deleting the state: %w", err)
			}
		}
	}
	_ = os.Remove(folder.etcdBackups()) // fails if there are snapshots, which are left, as is all that is not the plane's own
	others, err := os.ReadDir(string(folder))
	if err != nil {
		return true, nil, err
	}
	for _, entry := range others {
		left = append(left, entry.Name())
	}
	if len(left) == 0 {
		err = os.Remove(string(folder))
	}
	return true, left, err
}

// some names the first of a list.
func some(names []string, n int) string {
	if more := len(names) - n; more > 0 {
		names = append(slices.Clone(names[:n]), fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}
