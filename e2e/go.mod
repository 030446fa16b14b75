module github.com/slipway-capi/slipway/e2e

go 1.26.0

replace github.com/slipway-capi/slipway/contract => ../contract

replace github.com/slipway-capi/slipway/core => ../core

replace github.com/slipway-capi/slipway/providers/bootstrap-kubeadm => ../providers/bootstrap-kubeadm

replace github.com/slipway-capi/slipway/providers/controlplane-kubeadm => ../providers/controlplane-kubeadm

replace github.com/slipway-capi/slipway/providers/infrastructure-docker => ../providers/infrastructure-docker
