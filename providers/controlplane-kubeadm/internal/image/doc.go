// Package image reads and changes the names of container images that Kubernetes components run from. It is pure.
package image
