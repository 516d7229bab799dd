package main

import "rehome/cmd/rehome/internal/screen"

// brief shortens the long parts of a place inside a store.
func brief(place string) string { return screen.Brief(place) }

// briefDigest is the algorithm and the first digits of a digest.
func briefDigest(d string) string {
	const kept = 13
	if len(d) > kept+1 {
		return d[:kept] + "…"
	}
	return d
}
