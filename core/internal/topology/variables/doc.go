// Package variables knows the variables of ClusterClasses: whether a schema is one that the API server would take for a custom
// resource, what a missing value defaults to, and whether a value fits. All of it is pure; the rules are the API server's own.
package variables
