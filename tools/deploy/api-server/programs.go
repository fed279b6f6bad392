//go:build tools

// Names the program of this module: the API server of Kubernetes, whose own module cannot be installed.
package programs

import _ "k8s.io/kubernetes/cmd/kube-apiserver"
