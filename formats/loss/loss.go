// Package loss is the closed list of ways in which a conversion can fall
// short, and the books that are kept of them.
package loss

import (
	"fmt"
	"strings"
	"sync"

	"rehome/formats/store"
)

// Kind is a way of falling short. They are ordered, mildest first.
type Kind uint8

const (
	// Reshaped: everything is there, in another form.
	Reshaped Kind = iota + 1
	// Inferred: a value was worked out that the source does not state.
	Inferred
	// Missing: the source refers to something it does not hold.
	Missing
	// Dropped: the target has no room for it.
	Dropped
	// Unreadable: the source's bytes could not be understood.
	Unreadable
)

var names = [...]string{"", "reshaped", "inferred", "missing", "dropped", "unreadable"}

// Kinds lists all kinds, mildest first.
func Kinds() []Kind { return []Kind{Reshaped, Inferred, Missing, Dropped, Unreadable} }

func (k Kind) String() string {
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// MarshalText makes a kind its name in JSON.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a kind's name.
func (k *Kind) UnmarshalText(b []byte) error {
	for i, n := range names {
		if n != "" && n == string(b) {
			*k = Kind(i)
			return nil
		}
	}
	return fmt.Errorf("no such kind of loss: %q (one of %s)", b, strings.Join(names[1:], ", "))
}

// Note is one loss: what, and where in the source.
type Note struct {
	Kind Kind
	At   store.Addr
	What string // in words, without any foreign content
}

// Sink takes notes. It may be called from several goroutines.
type Sink func(Note)

// Books are the notes of one conversion: all counted, the first few kept.
type Books struct {
	mu    sync.Mutex
	lines map[entry]*Line
	order []*Line
}

type entry struct {
	kind Kind
	what string
}

// Line is one kind of loss for one reason.
type Line struct {
	Kind   Kind     `json:"kind"`
	What   string   `json:"what"`
	Count  int64    `json:"count"`
	Places []string `json:"places"` // the first few
}

const keepPlaces = 5

// Note enters one loss. It is a Sink.
func (b *Books) Note(n Note) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := entry{n.Kind, n.What}
	l := b.lines[e]
	if l == nil {
		if b.lines == nil {
			b.lines = map[entry]*Line{}
		}
		l = &Line{Kind: n.Kind, What: n.What}
		b.lines[e] = l
		b.order = append(b.order, l)
	}
	l.Count++
	if len(l.Places) < keepPlaces {
		l.Places = append(l.Places, n.At.String())
	}
}

// Lines are the entries in the order they were first made.
func (b *Books) Lines() []Line {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]Line, len(b.order))
	for i, l := range b.order {
		out[i] = *l
	}
	return out
}

// Worst is the gravest kind entered, 0 if none.
func (b *Books) Worst() (k Kind) {
	for _, l := range b.Lines() {
		k = max(k, l.Kind)
	}
	return k
}
