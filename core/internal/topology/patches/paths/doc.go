// Package paths types the JSON patches of ClusterClasses: it follows each path through the schema that the CustomResourceDefinition
// of the template's kind has, and says which step leads nowhere and what would be right. Values that are written out in the class are
// compared with the schema, too; those of variables and templates are known only per cluster. It is pure.
package paths
