module github.com/slipway-capi/slipway/providers/controlplane-kubeadm

go 1.26.0

replace github.com/slipway-capi/slipway/contract => ../../contract

replace github.com/slipway-capi/slipway/providers/bootstrap-kubeadm => ../../providers/bootstrap-kubeadm
