package docker

import (
	"bytes"
	"fmt"
	"net"
	"slices"
	"strings"
	"text/template"
)

// Ports inside the containers.
const (
	APIServerPort = 6443
	statsPort     = 8404
)

// loopback is where containers publish their ports: for who works on the engine's host, and not for its network, as
// statistics ask for no login. Machines and kubeconfigs use the containers' own addresses and ports.
const loopback = "127.0.0.1"

// Backend is an API server behind a load balancer.
type Backend struct {
	Name, Address string
	// Weight is its share of the new connections; 0 lets it finish what it has.
	Weight int
}

// Server is a backend as custom templates know it.
type Server struct {
	Address string
	Weight  int
}

// Values are what templates of the load balancer's configuration may use.
type Values struct {
	FrontendControlPlanePort, BackendControlPlanePort int
	BackendServers                                    map[string]Server
	IPv6                                              bool
}

const haproxyTemplate = `global
  log stdout format raw local0 info
  maxconn 100000
  no strict-limits
  stats socket /run/haproxy.sock mode 600 level admin

resolvers engine
  nameserver dns 127.0.0.11:53

defaults
  log global
  mode tcp
  option dontlognull
  option dontlog-normal
  option redispatch
  timeout connect 5s
  timeout client 50s
  timeout server 50s
  timeout tunnel 1h
  timeout check 2s
  default-server init-addr none

frontend stats
  mode http
  bind *:8404{{ if .IPv6 }},:::8404{{ end }}
  stats enable
  stats uri /
  http-request use-service prometheus-exporter if { path /metrics }

frontend control-plane
  bind *:{{ .FrontendControlPlanePort }}{{ if .IPv6 }},:::{{ .FrontendControlPlanePort }}{{ end }}
  default_backend api-servers

backend api-servers
  option httpchk GET /healthz
{{- range $name, $server := .BackendServers }}
  server {{ $name }} {{ JoinHostPort $server.Address $.BackendControlPlanePort }} weight {{ $server.Weight }} check check-ssl verify none inter 1s fastinter 500ms downinter 500ms fall 3 rise 1
{{- end }}
`

// RenderHAProxy renders the configuration. An empty template means the built-in one.
func RenderHAProxy(custom string, port int, backends []Backend) ([]byte, error) {
	text := custom
	if text == "" {
		text = haproxyTemplate
	}
	functions := template.FuncMap{"JoinHostPort": func(host string, port int) string { return net.JoinHostPort(host, fmt.Sprint(port)) }}
	parsed, err := template.New("haproxy.cfg").Funcs(functions).Option("missingkey=error").Parse(text)
	if err != nil {
		return nil, fmt.Errorf("parsing the template of the load balancer's configuration: %w", err)
	}
	values := Values{FrontendControlPlanePort: port, BackendControlPlanePort: APIServerPort, BackendServers: map[string]Server{}}
	backends = slices.SortedFunc(slices.Values(backends), func(a, b Backend) int { return strings.Compare(a.Name, b.Name) })
	for _, b := range backends {
		values.BackendServers[b.Name] = Server{Address: b.Address, Weight: b.Weight}
		values.IPv6 = values.IPv6 || strings.Contains(b.Address, ":")
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, values); err != nil {
		return nil, fmt.Errorf("rendering the load balancer's configuration: %w", err)
	}
	return out.Bytes(), nil
}
