// Package contract is the SDK that providers vendor; its packages are listed in README.md.
package contract
