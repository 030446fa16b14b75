// Package nodeimage tests that the image of cluster nodes is one that kind, the best-known maker of clusters in containers, can
// use as well: it is laid out as kind's own.
package nodeimage
