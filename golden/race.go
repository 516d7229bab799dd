//go:build race

package golden

// Race: the race detector is on. Everything takes ten times as long, and a
// sync.Pool throws away what it is given now and then, so that what is pooled is
// allocated again.
const Race = true
