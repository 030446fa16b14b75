// Package webhooks holds the rules of admission of this provider's kinds: defaults and judgements are pure functions,
// and one small adapter makes webhooks of them. What it adds is what must hold for every kind: errors of reason Invalid
// with field paths, and updates that leave the spec alone, or belong to a deletion, always pass.
package webhooks
