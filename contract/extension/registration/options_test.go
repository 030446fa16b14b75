package registration

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCertificatesForExtensionsComeWithTheirKey(t *testing.T) {
	require.NoError(t, (&Options{}).Validate())
	require.NoError(t, (&Options{CertFile: "a", KeyFile: "b"}).Validate())
	require.ErrorContains(t, (&Options{KeyFile: "b"}).Validate(), "must be set together")
}
