// Package manifests reads the generated manifests of the modules, changes what depends on where they are installed, and
// applies them. It is for the management plane, whose webhook servers are processes on the same machine; the release
// builds the manifests of a real management cluster from the same files in its own way.
package manifests
