// Package controllers holds the core's controllers, each in a folder of its own. Nothing is in it but the tests that run
// them together, against a real API server and a provider whose part the tests play.
package controllers
