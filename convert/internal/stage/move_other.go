//go:build !linux && !darwin && !windows

package stage

func move(from, to string) error { return moveStepwise(from, to) }
