module github.com/slipway-capi/slipway/contract

go 1.26.0
