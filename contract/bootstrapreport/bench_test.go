package bootstrapreport_test

import (
	"strings"
	"testing"

	"github.com/slipway-capi/slipway/contract/bootstrapreport"
)

// BenchmarkDiagnose judges as much output as a provider reads of one step.
func BenchmarkDiagnose(b *testing.B) {
	text := strings.Repeat(output(b, "join-unreachable"), 20)
	for b.Loop() {
		bootstrapreport.Diagnose(bootstrapreport.Execution{Step: "kubeadm join", Status: 1, Output: text}, bootstrapreport.NewRedactor([]byte(pem)))
	}
}
