// Package cloudinit writes the cloud-config document of a machine's first boot.
//
// The document is built as data and marshalled, never pasted together, so that any text a user gives comes out byte for
// byte. The template marker of cloud-init is set only if some text asks for instance data, and then everything else that
// looks like template syntax is protected (docs/decisions/0003-cloud-init-templates.md). It is pure.
package cloudinit
