// Package rules holds the rules of admission that several kinds share. All of it is pure.
package rules
