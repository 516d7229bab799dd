package sdksession

import "math/bits"

// sum is the digest of a text with its blanks left out, and with
// them control characters, which some of the SDK's ways cut off. Sums of pieces make the
// sum of the whole, which is how a text that one source holds in one piece and
// another in several is known to be the same.
type sum struct {
	n uint64 // bytes
	h uint64 // below prime
}

const (
	prime = 1<<61 - 1
	base  = 0x1b873593cc9e2d51 & prime
)

func mul(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return fold(lo&prime + (lo>>61 | hi<<3))
}

func fold(x uint64) uint64 {
	if x = x&prime + x>>61; x >= prime {
		x -= prime
	}
	return x
}

// add is the sum of the text followed by more of it.
func (s sum) add(text string) sum {
	for i := range len(text) {
		if c := text[i]; counts(c) {
			s.h = fold(mul(s.h, base) + uint64(c))
			s.n++
		}
	}
	return s
}

// join is the sum of one text followed by another.
func (s sum) join(o sum) sum {
	p, b := uint64(1), uint64(base)
	for n := o.n; n > 0; n >>= 1 {
		if n&1 != 0 {
			p = mul(p, b)
		}
		b = mul(b, b)
	}
	return sum{s.n + o.n, fold(mul(s.h, p) + o.h)}
}

// less is the sum of what follows a beginning.
func (s sum) less(o sum) sum {
	h := sum{h: o.h}.join(sum{n: s.n - o.n}).h
	return sum{s.n - o.n, fold(s.h + prime - h)}
}

// counts reports whether a byte is one that sums speak of.
func counts(c byte) bool { return c > ' ' }

func sumOf(text string) sum { return sum{}.add(text) }
