package v1beta2

// Condition types: what a condition is about.
const (
	KubeadmConfigCertificatesAvailableCondition = "CertificatesAvailable"
	KubeadmConfigDataSecretAvailableCondition   = "DataSecretAvailable"
)

// Other names on the wire.
const (
	EncryptionAlgorithmECDSAP256 = "ECDSA-P256"
	EncryptionAlgorithmECDSAP384 = "ECDSA-P384"
	EncryptionAlgorithmRSA2048   = "RSA-2048"
	EncryptionAlgorithmRSA3072   = "RSA-3072"
	EncryptionAlgorithmRSA4096   = "RSA-4096"
)
