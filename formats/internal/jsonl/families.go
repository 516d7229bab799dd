package jsonl

// Families returns a list of sessions with each followed by its subagents, otherwise in
// the same order. parent returns the index of the session that started the i-th, or -1.
// Of sessions that started each other, the first is taken for the outermost.
func Families[T any](list []T, parent func(i int) int) []T {
	children := make([][]int, len(list))
	var tops, all []int
	for i := range list {
		if up := parent(i); up >= 0 && up != i {
			children[up] = append(children[up], i)
		} else {
			tops = append(tops, i)
		}
		all = append(all, i)
	}
	out, done := make([]T, 0, len(list)), make([]bool, len(list))
	for _, from := range append(tops, all...) {
		for next := []int{from}; len(next) > 0; {
			i := next[len(next)-1]
			if next = next[:len(next)-1]; done[i] {
				continue
			}
			out, done[i] = append(out, list[i]), true
			for n := range children[i] {
				next = append(next, children[i][len(children[i])-1-n])
			}
		}
	}
	return out
}
