//go:build !linux && !darwin && !windows

package convert

func move(from, to string) error { return moveStepwise(from, to) }
