package leaks

import (
	"bytes"
	"iter"
	"math"
)

// genericID is the rule for random letters and digits after a word such as
// "key".
const genericID = "generic-api-key"

// accept yields where in a match the secrets are.
func (w *scan) accept(r *rule, text []byte, m []int) iter.Seq2[int, int] {
	for m[1] > m[0] && text[m[1]-1] == '\n' {
		m[1]--
	}
	for m[0] < m[1] && text[m[0]] == '\n' {
		m[0]++
	}
	from, to := m[0], m[1]
	for g := 1; g < len(m)/2 && !r.noGroup; g++ {
		if r.Group != 0 && g != r.Group || m[2*g] == m[2*g+1] {
			continue
		}
		from, to = m[2*g], m[2*g+1]
		break
	}
	return func(yield func(from, to int) bool) {
		if r.Each == "" {
			if w.isSecret(r, text, m, from, to) {
				yield(from, to)
			}
			return
		}
		for _, one := range r.each().FindAllSubmatchIndex(text[from:to], -1) {
			a, b := from+one[2], from+one[3]
			if w.isSecret(r, text, m, a, b) && !yield(a, b) {
				return
			}
		}
	}
}

// isSecret reports whether a part of a match is a secret.
func (w *scan) isSecret(r *rule, text []byte, m []int, from, to int) bool {
	secret, match := text[from:to], text[m[0]:m[1]]
	if r.Entropy != 0 && entropy(secret) <= r.Entropy {
		return false
	}
	if r.ID == genericID && w.harmless.matches(text[m[0]:from], secret) {
		return false
	}
	line := lineOf(text, m[0], m[1])
	for _, list := range [][]allow{w.allow, r.allow} {
		for _, a := range list {
			if a.allows(secret, match, line) {
				return false
			}
		}
	}
	return true
}

// allows reports whether an allowance applies.
func (a *allow) allows(secret, match, line []byte) bool {
	target := secret
	switch a.Target {
	case "match":
		target = match
	case "line":
		target = line
	}
	like := len(a.Patterns) > 0 && a.pattern().Match(target)
	if a.All && len(a.Patterns) > 0 && !like {
		return false
	}
	if like && !a.All {
		return true
	}
	word := len(a.Words) > 0 && a.words().in(secret)
	if a.All {
		return word || len(a.Words) == 0
	}
	return word
}

func lineOf(text []byte, from, to int) []byte {
	begin := bytes.LastIndexByte(text[:from], '\n') + 1
	if i := bytes.IndexByte(text[to:], '\n'); i >= 0 {
		return text[begin : to+i]
	}
	return text[begin:]
}

// entropy returns Shannon's entropy in bits per byte.
func entropy(b []byte) float64 {
	var count [256]int
	for _, c := range b {
		count[c]++
	}
	bits := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(b))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}
