package plane

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/slipway-capi/slipway/internal/pki"
	"github.com/slipway-capi/slipway/internal/ports"
	"github.com/slipway-capi/slipway/internal/supervise"
)

// Names of the processes of Kubernetes.
const (
	etcd                  = "etcd"
	apiServer             = "kube-apiserver"
	controllerManager     = "kube-controller-manager"
	controllerManagerUser = "slipway:kube-controller-manager"
)

// controllers are those of kube-controller-manager that Cluster API relies on. The last one fills the managers' aggregated roles.
var controllers = []string{"garbage-collector-controller", "namespace-controller", "clusterrole-aggregation-controller"}

// served are the APIs that something on a plane uses; each that is left out saves memory. discovery and networking are there
// because the API server itself reads them.
var served = []string{
	"v1", "admissionregistration.k8s.io/v1", "apiextensions.k8s.io/v1", "apiregistration.k8s.io/v1", "authentication.k8s.io/v1",
	"authorization.k8s.io/v1", "coordination.k8s.io/v1", "discovery.k8s.io/v1", "events.k8s.io/v1", "networking.k8s.io/v1",
	"rbac.authorization.k8s.io/v1",
}

// idleAdmission are admission plug-ins that are on by default and judge only what never runs on a plane: pods, volumes, quotas.
var idleAdmission = []string{
	"CertificateApproval", "CertificateSigning", "CertificateSubjectRestriction", "ClusterTrustBundleAttest", "DefaultIngressClass",
	"DefaultStorageClass", "DefaultTolerationSeconds", "LimitRanger", "PersistentVolumeClaimResize", "PodSecurity", "Priority",
	"ResourceQuota", "RuntimeClass", "ServiceAccount", "StorageObjectInUseProtection", "TaintNodesByCondition",
}

// ownerProtection is off by default in Kubernetes but on in some distributions: who gives an object an owner needs rights on the
// owner. A plane has it so that every cluster made on one shows that the managers' roles are enough there.
const ownerProtection = "OwnerReferencesPermissionEnforcement"

// memory are the garbage collector's settings: a plane is idle most of the time, so a smaller heap is worth more than the
// processor time of collecting more often. The limit is soft, for bursts.
func memory(percent, limitMiB int) []string {
	return []string{fmt.Sprintf("GOGC=%d", percent), fmt.Sprintf("GOMEMLIMIT=%dMiB", limitMiB)}
}

func (p *prepared) etcdProcess() supervise.Process {
	peer := p.ports.URL(portEtcdPeer)
	return p.child(etcd, memory(50, 2048),
		"--name=slipway", "--data-dir="+p.folder.data(),
		// On one port the watches of gRPC starve under load, so HTTP has its own.
		"--listen-client-urls="+p.ports.URL(portEtcd), "--advertise-client-urls="+p.ports.URL(portEtcd),
		"--listen-client-http-urls="+p.ports.URL(portEtcdHTTP),
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=slipway="+peer,
		"--client-cert-auth", "--trusted-ca-file="+p.ca.CAFile(),
		"--cert-file="+p.etcdServer.Cert, "--key-file="+p.etcdServer.Key,
		"--peer-client-cert-auth", "--peer-trusted-ca-file="+p.ca.CAFile(),
		"--peer-cert-file="+p.etcdServer.Cert, "--peer-key-file="+p.etcdServer.Key,
		"--snapshot-count=10000", "--log-level=warn",
	)
}

func (p *prepared) apiServerProcess() supervise.Process {
	var apis []string
	for _, version := range served {
		if version == "v1" {
			version = "api/v1"
		}
		apis = append(apis, version+"=true")
	}
	return p.child(apiServer, memory(40, 3072),
		"--etcd-servers="+p.ports.URL(portEtcd), "--etcd-cafile="+p.ca.CAFile(),
		"--etcd-certfile="+p.etcdClient.Cert, "--etcd-keyfile="+p.etcdClient.Key,
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", p.ports[portAPI]),
		"--tls-cert-file="+p.apiServer.Cert, "--tls-private-key-file="+p.apiServer.Key,
		"--client-ca-file="+p.ca.CAFile(), "--anonymous-auth=false", "--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file="+p.serviceAccounts.Cert,
		"--service-account-signing-key-file="+p.serviceAccounts.Key,
		"--service-cluster-ip-range=10.96.0.0/24", "--endpoint-reconciler-type=none",
		"--runtime-config=api/all=false,"+strings.Join(apis, ","),
		"--disable-admission-plugins="+strings.Join(idleAdmission, ","), "--enable-admission-plugins="+ownerProtection,
		"--enable-priority-and-fairness=false", "--max-requests-inflight=800", "--max-mutating-requests-inflight=400",
		"--profiling=false", "--event-ttl=3h",
	)
}

func (p *prepared) controllerManagerProcess() supervise.Process {
	return p.child(controllerManager, memory(50, 512),
		"--kubeconfig="+p.folder.userKubeconfig(controllerManager), "--leader-elect=false", "--secure-port=0",
		"--controllers="+strings.Join(controllers, ","), "--concurrent-gc-syncs=20", "--profiling=false",
		"--kube-api-qps=200", "--kube-api-burst=400",
	)
}

func (p *prepared) managerProcess(c Component) supervise.Process {
	args := []string{
		"--kubeconfig=" + p.folder.userKubeconfig(c.Name), "--kube-api-qps=500", "--kube-api-burst=1000",
		"--webhook-host=127.0.0.1", fmt.Sprintf("--webhook-port=%d", p.ports[c.webhookPort()]),
		"--webhook-cert-dir=" + filepath.Join(p.folder.pki(), pki.WebhookDir, c.Name),
		"--health-addr=" + p.ports.Address(c.healthPort()), "--diagnostics-address=" + p.ports.Address(c.diagnosticsPort()),
		fmt.Sprintf("--v=%d", p.config.Verbosity),
	}
	if p.config.FeatureGates != "" {
		args = append(args, "--feature-gates="+p.config.FeatureGates)
	}
	if c.Args != nil {
		args = append(args, c.Args(p.folder)...)
	}
	process := p.child(c.process(), memory(50, 2048), args...)
	process.Path = c.binary(p.config.ManagerDir)
	return process
}

func (p *prepared) child(name string, env []string, args ...string) supervise.Process {
	return supervise.Process{
		Name: name, Path: p.config.Programs[name], Args: args, Env: env, Log: p.folder.Log(name), Grace: 20 * time.Second,
	}
}

// webhooks is where a manager's webhooks are served.
func (p *prepared) webhooks(c Component) string {
	return "https://" + ports.Address(p.ports[c.webhookPort()])
}
