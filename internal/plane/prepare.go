package plane

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/slipway-capi/slipway/internal/pki"
	"github.com/slipway-capi/slipway/internal/ports"
)

// Names of ports.
const (
	portEtcd     = "etcd"
	portEtcdHTTP = "etcd-http"
	portEtcdPeer = "etcd-peer"
	portAPI      = "kube-apiserver"
)

func (c Component) webhookPort() string     { return c.Name + "-webhook" }
func (c Component) healthPort() string      { return c.Name + "-health" }
func (c Component) diagnosticsPort() string { return c.Name + "-diagnostics" }

// prepared is all that must be on disk before the first process starts.
type prepared struct {
	folder Folder
	config Config
	ports  ports.Set
	// notes are what people should know about the start.
	notes []string
	ca    *pki.Authority

	etcdServer, etcdClient, apiServer, serviceAccounts pki.Files
}

// prepare chooses ports and makes certificates and kubeconfigs, keeping what there is.
func prepare(folder Folder, config Config) (*prepared, error) {
	p := &prepared{folder: folder, config: config}
	if err := p.choosePorts(); err != nil {
		return nil, err
	}
	var err error
	if p.ca, err = pki.Open(folder.pki(), time.Now); err != nil {
		return nil, err
	}
	for _, step := range []func() error{p.serverCertificates, p.kubeconfigs, p.webhookCertificates} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *prepared) choosePorts() error {
	names := []string{portEtcd, portEtcdHTTP, portEtcdPeer, portAPI}
	for _, c := range p.config.components() {
		names = append(names, c.webhookPort(), c.healthPort(), c.diagnosticsPort())
	}
	remembered := ports.Set{}
	if err := readJSON(p.folder.ports(), &remembered); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("reading the ports: %w", err)
	}
	if port := p.config.APIPort; port != 0 {
		if err := reserve(port); err != nil {
			return err
		}
		remembered[portAPI] = port
	}
	var err error
	if p.ports, err = ports.Choose(remembered, names...); err != nil {
		return err
	}
	if moved := movedAPI(remembered, p.ports, p.folder); moved != "" {
		p.notes = append(p.notes, moved)
	}
	// Ports of managers that do not run this time stay remembered.
	maps.Copy(remembered, p.ports)
	return writeJSON(p.folder.ports(), remembered)
}

func (p *prepared) serverCertificates() error {
	var err error
	if p.etcdServer, err = p.ca.Server("etcd"); err != nil {
		return err
	}
	if p.etcdClient, err = p.ca.Client("etcd-client", "kube-apiserver"); err != nil {
		return err
	}
	p.apiServer, err = p.ca.Server("kube-apiserver", "kubernetes", "kubernetes.default", "kubernetes.default.svc")
	if err != nil {
		return err
	}
	p.serviceAccounts, err = p.ca.ServiceAccounts()
	return err
}

// kubeconfigs are the administrator's and one for each process that talks to the API server as a user of its own.
func (p *prepared) kubeconfigs() error {
	admin, err := p.ca.Client("admin", "slipway-admin", "system:masters")
	if err != nil {
		return err
	}
	if err := p.writeKubeconfig(p.folder.Kubeconfig(), admin); err != nil {
		return err
	}
	users := map[string]string{controllerManager: controllerManagerUser}
	for _, c := range p.config.components() {
		users[c.Name] = c.user()
	}
	for name, user := range users {
		files, err := p.ca.Client(name, user)
		if err != nil {
			return err
		}
		if err := p.writeKubeconfig(p.folder.userKubeconfig(name), files); err != nil {
			return err
		}
	}
	return nil
}

func (p *prepared) webhookCertificates() error {
	for _, c := range p.config.components() {
		if _, err := p.ca.Server(filepath.Join(pki.WebhookDir, c.Name)); err != nil {
			return err
		}
	}
	return nil
}

// writeKubeconfig writes a kubeconfig that needs no other file, so that it can be copied.
func (p *prepared) writeKubeconfig(path string, files pki.Files) error {
	cert, err := os.ReadFile(files.Cert)
	if err != nil {
		return err
	}
	key, err := os.ReadFile(files.Key)
	if err != nil {
		return err
	}
	const name = "slipway"
	config := clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{name: {Server: p.ports.URL(portAPI), CertificateAuthorityData: p.ca.CA()}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{name: {ClientCertificateData: cert, ClientKeyData: key}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := clientcmd.WriteToFile(config, path); err != nil {
		return fmt.Errorf("writing kubeconfig %s: %w", path, err)
	}
	return nil
}
