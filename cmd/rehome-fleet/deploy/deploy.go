// Package deploy holds what runs the shards of a plan on a cluster: a script for Slurm and a
// manifest for Kubernetes. Its tests run both as they are shipped.
package deploy
