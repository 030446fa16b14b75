// Package decision is the small vocabulary that every Decide function shares: why something is done.
package decision

// Why gives an action's reason, in a word for machines and in a sentence for people.
type Why struct {
	// Reason is one CamelCase word, such as ScaleDown; it becomes the reason of the event.
	Reason string
	// Because is a sentence with names and numbers; it holds no times and no secrets.
	Because string
}
