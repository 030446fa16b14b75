package v1beta2

// Other names on the wire.
const (
	CloudConfig                = "cloud-config"
	Ignition                   = "ignition"
	Base64                     = "base64"
	Gzip                       = "gzip"
	GzipBase64                 = "gzip+base64"
	FileContentFormatRaw       = "Raw"
	FileContentFormatTemplate  = "Template"
	PartitionTypeLinux         = "Linux"
	PartitionTypeLinuxSwap     = "LinuxSwap"
	PartitionTypeLinuxRAID     = "LinuxRAID"
	PartitionTypeLVM           = "LVM"
	PartitionTypeFat32         = "Fat32"
	PartitionTypeNTFS          = "NTFS"
	PartitionTypeLinuxExtended = "LinuxExtended"
)
