// Package classtest tests ClusterClasses: it reads ClassTests, which lie as YAML beside a class, renders the Clusters of their cases
// without a management cluster, and compares what comes out with what is expected. It is for authors of classes.
package classtest
