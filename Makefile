# `make help` lists the targets. Everything is built from source; programs of Kubernetes are built once into a cache.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

MODULES := . contract core providers/bootstrap-kubeadm providers/controlplane-kubeadm providers/infrastructure-docker \
	providers/infrastructure-aws providers/infrastructure-vsphere e2e
PACKAGES := $(MODULES:%=./%/...)
# Packages whose correctness is about goroutines. `make test-race` runs all others with the detector too.
RACE_PACKAGES := ./internal/supervise ./internal/filelock ./internal/binaries ./internal/progress
BACKEND ?= docker
CLASS ?=
GO_TEST_FLAGS ?=
# What `slipway version` tells. Only slipway itself is stamped, so that a commit does not link the managers again.
VERSION ?= $(shell git describe --tags --dirty 2>/dev/null)
COMMIT ?= $(shell git rev-parse HEAD 2>/dev/null)
SLIPWAY := github.com/slipway-capi/slipway/cmd/slipway
STAMP = -X github.com/slipway-capi/slipway/internal/cli.version=$(VERSION) -X github.com/slipway-capi/slipway/internal/cli.commit=$(COMMIT)
GENERATED := '*/config/*' '*zz_generated*' 'docs/conformance/*.md' 'docs/operating/kube-state-metrics.yaml' docs/quickstart/pod-network.yaml

##@ Everyday
.PHONY: help
help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*## / {printf "  %-17s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build slipway and the managers into bin/
	@echo "Building slipway and its managers from source (minutes the first time, else seconds)"
	@go build -ldflags='$(SLIPWAY)=$(STAMP)' -o bin/.built/ ./cmd/slipway ./core ./providers/bootstrap-kubeadm ./providers/controlplane-kubeadm \
		./providers/infrastructure-docker
	@cd bin && place() { [ .built/$$1 -ef $$2 ] || ln -f .built/$$1 $$2; }; \
	place slipway slipway; place core slipway-core-manager; place bootstrap-kubeadm slipway-bootstrap-kubeadm-manager; \
	place controlplane-kubeadm slipway-control-plane-kubeadm-manager; place infrastructure-docker slipway-infrastructure-docker-manager

.PHONY: quickstart
quickstart: ## Run a two-node cluster: BACKEND=docker (default) or BACKEND=inMemory; CLASS=1 makes it from a ClusterClass
	@CLASS=$(CLASS) hack/quickstart.sh $(BACKEND)

.PHONY: quickstart-down
quickstart-down: ## Delete the quick-start cluster, the management plane and its state
	@hack/quickstart.sh down

##@ Checks
.PHONY: test
test: build binaries ## Run the tests of every module: pure ones, and those against a real etcd and API server
	go test $(GO_TEST_FLAGS) $(PACKAGES)
	go test -race $(RACE_PACKAGES)

.PHONY: test-race
test-race: build binaries ## Run the tests of every module with the race detector (slow)
	go test -race $(GO_TEST_FLAGS) $(PACKAGES)

.PHONY: e2e
e2e: build binaries node-image ## Create, scale and delete a real cluster in Docker containers
	go test -tags e2e -count=1 -p 1 -v -timeout 40m ./e2e/...

.PHONY: e2e-upgrade
e2e-upgrade: build binaries node-image ## Upgrade a real cluster to the next minor version, lose machines, scale (builds the older Kubernetes first; slow)
	hack/nodeimage/build.sh v1.36
	go test -tags e2e,upgrade -count=1 -v -timeout 60m -run TestDockerUpgrade ./e2e/lifecycle

.PHONY: lint
lint: ## Check formatting, go vet and staticcheck
	@unformatted=$$(git ls-files '*.go' | xargs gofmt -l); \
	if [ -n "$$unformatted" ]; then echo "run gofmt on:"; echo "$$unformatted"; exit 1; fi
	go vet $(PACKAGES)
	go vet -tags e2e,upgrade ./e2e/...
	go tool staticcheck $(PACKAGES)

.PHONY: verify
verify: generate conformance ## Fail when generated files differ from what is committed
	@drift=$$(git status --porcelain -- $(GENERATED)); \
	if [ -n "$$drift" ]; then echo "generated files differ, commit them:"; echo "$$drift"; git --no-pager diff -- $(GENERATED) | head -100; exit 1; fi

.PHONY: bench
bench: build binaries ## Measure the plane's start and memory, and the in-memory cluster (docs/benchmarks.md)
	hack/bench.sh

##@ Building blocks
.PHONY: generate
generate: ## Generate deep copies, CRDs, roles and webhook configurations
	hack/generate.sh

.PHONY: conformance
conformance: ## Write docs/conformance/*.md: each rule of the system's behaviour and the tests that show it
	go run ./hack/conformance

.PHONY: binaries
binaries: build ## Build etcd and the Kubernetes programs of plane and tests into the cache, once
	@bin/slipway binaries --set etcd
	@bin/slipway binaries kube-apiserver kube-controller-manager kubectl kubeadm

.PHONY: node-image
node-image: ## Build the image of cluster nodes (needs a Docker engine)
	hack/nodeimage/build.sh

.PHONY: clean
clean: ## Remove what was built in this folder; the cache of Kubernetes programs stays
	rm -rf bin
