//go:build race

package golden

// PoolsForget: under the race detector a sync.Pool throws away what it is given
// now and then, so that what is pooled is allocated again.
const PoolsForget = true
