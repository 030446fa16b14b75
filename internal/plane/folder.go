package plane

import "path/filepath"

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

func (f Folder) userKubeconfig(name string) string { return f.path("kubeconfigs", name) }

func (f Folder) path(elements ...string) string {
	return filepath.Join(append([]string{string(f)}, elements...)...)
}
