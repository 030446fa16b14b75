module github.com/slipway-capi/slipway/core

go 1.26.0

replace github.com/slipway-capi/slipway/contract => ../contract
