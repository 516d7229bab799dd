//go:build !linux && !darwin && !windows

package fsx

func move(from, to string) error { return moveStepwise(from, to) }

func swap(from, to string) error { return swapStepwise(from, to) }
