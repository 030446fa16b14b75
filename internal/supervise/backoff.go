package supervise

import "time"

const (
	firstDelay  = 200 * time.Millisecond
	longestWait = 30 * time.Second
	// steadyAfter is how long a child must live for its next death to count as the first.
	steadyAfter = time.Minute
)

// backoff says how long to wait before the next start of a child that lived for the given time, and how many deaths in a
// row that makes. It is pure.
func backoff(deaths int, lived time.Duration) (wait time.Duration, inARow int) {
	if lived >= steadyAfter {
		deaths = 0
	}
	wait = longestWait
	if deaths < 8 {
		wait = min(firstDelay<<deaths, longestWait)
	}
	return wait, deaths + 1
}
