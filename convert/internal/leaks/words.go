package leaks

// words finds many short words in one pass over bytes, ignoring the case of
// ASCII letters: an Aho-Corasick automaton in one table.
type words struct {
	class   [256]uint8 // by byte; 0 is every byte that is in no word
	classes int
	next    []uint16   // by state and class
	ends    [][]uint16 // by state: the words that end there
	steps   []uint32   // next again, as each reads it: where a state's row begins, and whether words end there
}

// newWords returns the automaton of words in lower case, of which there may be
// a few thousand at most: a state is a uint16.
func newWords(list []string) *words {
	w := &words{classes: 1}
	states := 1
	for _, s := range list {
		for _, c := range []byte(s) {
			if w.class[c] == 0 {
				w.class[c] = uint8(w.classes)
				w.classes++
			}
		}
		states += len(s)
	}
	for c := byte('a'); c <= 'z'; c++ {
		w.class[c-'a'+'A'] = w.class[c]
	}
	w.next = make([]uint16, states*w.classes)
	w.ends = make([][]uint16, states)
	used := uint16(1)
	for id, s := range list {
		at := 0
		for _, c := range []byte(s) {
			slot := &w.next[at*w.classes+int(w.class[c])]
			if *slot == 0 {
				*slot = used
				used++
			}
			at = int(*slot)
		}
		w.ends[at] = append(w.ends[at], uint16(id))
	}
	w.next, w.ends = w.next[:int(used)*w.classes], w.ends[:used]
	w.link()
	w.steps = make([]uint32, len(w.next))
	for i, s := range w.next {
		w.steps[i] = uint32(int(s)*w.classes) << 1
		if len(w.ends[s]) > 0 {
			w.steps[i] |= 1
		}
	}
	return w
}

// link turns the tree of words into the automaton: where no word continues, its
// longest proper suffix that begins one does.
func (w *words) link() {
	fall := make([]uint16, len(w.ends))
	var queue []uint16
	for _, s := range w.next[:w.classes] {
		if s != 0 {
			queue = append(queue, s)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		at := int(queue[0])
		back := int(fall[at])
		w.ends[at] = append(w.ends[at], w.ends[back]...)
		for c := range w.classes {
			slot, other := &w.next[at*w.classes+c], w.next[back*w.classes+c]
			if *slot == 0 {
				*slot = other
				continue
			}
			fall[*slot] = other
			queue = append(queue, *slot)
		}
	}
}

// each calls found with every word that ends in b and where it ends, and
// returns the state from which to continue after b.
func (w *words) each(state uint16, b []byte, found func(id uint16, end int)) uint16 {
	at := uint32(int(state) * w.classes)
	for i, c := range b {
		step := w.steps[at+uint32(w.class[c])]
		if at = step >> 1; step&1 == 0 {
			continue
		}
		for _, id := range w.ends[int(at)/w.classes] {
			found(id, i+1)
		}
	}
	return uint16(int(at) / w.classes)
}

// in reports whether b contains any of the words.
func (w *words) in(b []byte) bool {
	state := uint16(0)
	for _, c := range b {
		state = w.next[int(state)*w.classes+int(w.class[c])]
		if len(w.ends[state]) > 0 {
			return true
		}
	}
	return false
}
