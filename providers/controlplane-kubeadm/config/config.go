// Package config carries the generated manifests of this module inside the binaries that install it.
package config

import "embed"

// CRDs holds the generated CustomResourceDefinitions under crd/bases.
//
//go:embed crd/bases/*.yaml
var CRDs embed.FS

// Roles holds the roles of the manager under rbac.
//
//go:embed rbac/*.yaml
var Roles embed.FS

// Files holds all generated manifests: CustomResourceDefinitions, RBAC and webhook configurations.
//
//go:embed crd/bases/*.yaml rbac/*.yaml webhook/*.yaml
var Files embed.FS
