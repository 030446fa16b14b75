// Package ignition writes the first-boot document of a machine whose system reads Ignition, such as Flatcar and Fedora CoreOS.
//
// It is pure. What the machine gets is collected in a plan, and the plan is written in one of two versions of Ignition: 2.3,
// which is what users of KubeadmConfigs have, or 3.3, if their additionalConfig is a Butane config and not a Container Linux
// Config. Everything is built from the types of Ignition itself and judged by their rules before it goes out.
package ignition
