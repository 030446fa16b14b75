// Package webhooks admits KubeadmConfigs and KubeadmConfigTemplates: what could never become a first-boot document is
// refused with the field and what would be right. What the schema of the CRDs refuses already is not looked at again.
package webhooks
