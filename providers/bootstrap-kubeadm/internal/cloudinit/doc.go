// Package cloudinit writes the cloud-config document of a machine's first boot.
//
// The document is built as data and marshalled, never pasted together, so that any text a user gives comes out byte for
// byte. The template marker of cloud-init is set only if some text asks for it, and then all other text is protected
// (docs/decisions/0003-cloud-init-templates.md). It is pure.
package cloudinit
