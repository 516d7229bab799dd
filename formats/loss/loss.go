// Package loss is the closed list of what a conversion may not carry as it was,
// and the account that is kept of it. Each loss has a code. The tables in
// losses/*.txt say what it is, of which kind, and what it means for the person
// or the model that continues; words are made last, for people.
package loss

import (
	"fmt"
	"slices"
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

// Loss is one loss: which, and where in the source. Its arguments, in the order
// of the table, are names and numbers, never what somebody said and never a
// secret.
type Loss struct {
	Code Code
	At   store.Addr
	Args []string
}

// Kind returns the kind of the loss.
func (n Loss) Kind() Kind { return n.Code.Kind() }

// What returns the loss in words.
func (n Loss) What() string {
	l := n.line()
	return n.Code.Definition().phrase(1, l.Args)
}

// Sink takes notes. It may be called from several goroutines.
type Sink func(Loss)

// Log is the losses of one conversion: all counted, the first few kept.
type Log struct {
	mu    sync.Mutex
	lines map[string]*Group
	order []*Group
}

// Group is the losses of one code whose arguments in common are the same.
type Group struct {
	Code   Code              `json:"code"`
	Kind   Kind              `json:"kind"`
	What   string            `json:"what"`           // in words, for as many as there are
	Args   map[string]string `json:"args,omitempty"` // those that all of them have in common
	Count  int64             `json:"count"`
	Places []string          `json:"places"` // the first few
}

const keepPlaces = 5

// Group returns the group of this loss alone.
func (n Loss) Group() Group {
	l := n.line()
	l.Count, l.Places = 1, []string{n.At.String()}
	return l.worded()
}

func (n Loss) line() Group {
	l, of := Group{Code: n.Code, Kind: n.Kind()}, n.Code.Definition()
	for i, a := range n.Args {
		if l.Args == nil {
			l.Args = map[string]string{}
		}
		l.Args[of.Args[i]] = a
	}
	return l
}

// group returns what the losses of a line have in common.
func (l *Group) group() string {
	key := string(l.Code)
	if len(l.Args) > 0 {
		for _, name := range l.Code.Definition().shared() {
			key += "\x00" + l.Args[name]
		}
	}
	return key
}

// worded returns the line in words, without the arguments that differ.
func (l Group) worded() Group {
	of, args := l.Code.Definition(), l.Args
	l.What, l.Args = of.phrase(l.Count, args), nil
	for name, a := range args {
		if l.Count == 1 || slices.Contains(of.shared(), name) {
			if l.Args == nil {
				l.Args = map[string]string{}
			}
			l.Args[name] = a
		}
	}
	return l
}

// Merge adds lines to lines: each group keeps one line, with the places of the
// first.
func Merge(lines, more []Group) []Group {
	for _, l := range more {
		i := slices.IndexFunc(lines, func(o Group) bool { return o.group() == l.group() })
		if i < 0 {
			lines = append(lines, l)
			continue
		}
		lines[i].Count += l.Count
		lines[i] = lines[i].worded()
	}
	return lines
}

// Add enters one loss. It is a Sink.
func (b *Log) Add(n Loss) {
	b.mu.Lock()
	defer b.mu.Unlock()
	group := string(n.Code)
	if len(n.Args) > 0 {
		l := n.line()
		group = l.group()
	}
	l := b.lines[group]
	if l == nil {
		if b.lines == nil {
			b.lines = map[string]*Group{}
		}
		one := n.line()
		l = &one
		b.lines[group] = l
		b.order = append(b.order, l)
	}
	l.Count++
	if len(l.Places) < keepPlaces {
		l.Places = append(l.Places, n.At.String())
	}
}

// Groups returns the lines in the order in which they were first entered.
func (b *Log) Groups() []Group {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]Group, len(b.order))
	for i, l := range b.order {
		out[i] = l.worded()
		out[i].Places = slices.Clone(l.Places)
	}
	return out
}

// Worst returns the gravest kind entered, 0 if none.
func (b *Log) Worst() (k Kind) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.order {
		k = max(k, l.Kind)
	}
	return k
}
