// Package loss is the closed list of what a conversion may fail to carry as it was,
// and a log of what it did. Each loss has a code. The tables in losses/*.txt define
// its kind, its wording, and what it means for the person or the model that
// continues the session. Only reports put losses into words.
package loss

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"rehome/formats/store"
)

// Kind says how a conversion falls short. Kinds are in order of severity.
type Kind uint8

const (
	// Reshaped means that everything is there, in another form.
	Reshaped Kind = iota + 1
	// Inferred means that a value was derived because the source does not state it.
	Inferred
	// Missing means that the source lacks something that it refers to.
	Missing
	// Dropped means that it was left out, mostly because the target cannot hold it.
	Dropped
	// Unreadable means that the source is damaged or not understood.
	Unreadable
)

var names = [...]string{"", "reshaped", "inferred", "missing", "dropped", "unreadable"}

// Kinds returns all kinds, the least severe first.
func Kinds() []Kind { return []Kind{Reshaped, Inferred, Missing, Dropped, Unreadable} }

func (k Kind) String() string {
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// MarshalText returns the name of a kind.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText parses the name of a kind.
func (k *Kind) UnmarshalText(b []byte) error {
	for i, n := range names {
		if n != "" && n == string(b) {
			*k = Kind(i)
			return nil
		}
	}
	return fmt.Errorf("unknown kind of loss %q; use one of %s", b, strings.Join(names[1:], ", "))
}

// Loss is one thing that was not carried as it was, and its place in the source. Its
// arguments, in the order of its definition, are names and numbers, never
// conversation content or secrets.
type Loss struct {
	Code Code
	At   store.Addr
	Args []string
}

// Kind returns the kind of the loss.
func (l Loss) Kind() Kind { return l.Code.Kind() }

// What describes the loss in words.
func (l Loss) What() string {
	return l.Code.Definition().phrase(1, l.group().Args)
}

// Sink receives losses. It must be safe for concurrent use.
type Sink func(Loss)

// Add reports a loss to a sink, if there is one.
func (s Sink) Add(l Loss) {
	if s != nil {
		s(l)
	}
}

// Log counts the losses of one conversion, and keeps the places of the first few of
// each group. It is safe for concurrent use.
type Log struct {
	mu     sync.Mutex
	groups map[string]*Group // by key
	order  []*Group
}

// Group is the losses with one code and the same shared arguments.
type Group struct {
	Code        Code              `json:"code"`
	Kind        Kind              `json:"kind"`
	Consequence Consequence       `json:"consequence"`
	What        string            `json:"what"`           // in words, singular or plural
	Args        map[string]string `json:"args,omitempty"` // the ones that all of them share
	Count       int64             `json:"count"`
	Places      []string          `json:"places"` // the first few
}

const maxPlaces = 5

// Group returns a group of this loss alone.
func (l Loss) Group() Group {
	g := l.group()
	g.Count, g.Places = 1, []string{l.At.String()}
	return g.worded()
}

// group returns an empty group for the loss, with all arguments.
func (l Loss) group() Group {
	def := l.Code.Definition()
	g := Group{Code: l.Code, Kind: def.Kind, Consequence: def.Consequence}
	for i, a := range l.Args {
		if g.Args == nil {
			g.Args = map[string]string{}
		}
		g.Args[def.Args[i]] = a
	}
	return g
}

// key returns what identifies the group.
func (g *Group) key() string {
	key := string(g.Code)
	if len(g.Args) > 0 {
		for _, name := range g.Code.Definition().shared() {
			key += "\x00" + g.Args[name]
		}
	}
	return key
}

// worded returns the group in words, without the arguments that differ.
func (g Group) worded() Group {
	def, args := g.Code.Definition(), g.Args
	g.What, g.Args = def.phrase(g.Count, args), nil
	for name, a := range args {
		if g.Count == 1 || slices.Contains(def.shared(), name) {
			if g.Args == nil {
				g.Args = map[string]string{}
			}
			g.Args[name] = a
		}
	}
	return g
}

// Merge adds groups to groups. Groups with the same key become one, with the places
// of the first.
func Merge(groups, more []Group) []Group {
	for _, g := range more {
		i := slices.IndexFunc(groups, func(have Group) bool { return have.key() == g.key() })
		if i < 0 {
			groups = append(groups, g)
			continue
		}
		groups[i].Count += g.Count
		groups[i] = groups[i].worded()
	}
	return groups
}

// Add records a loss. It is a Sink.
func (l *Log) Add(one Loss) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := string(one.Code)
	if len(one.Args) > 0 {
		g := one.group()
		key = g.key()
	}
	g := l.groups[key]
	if g == nil {
		if l.groups == nil {
			l.groups = map[string]*Group{}
		}
		empty := one.group()
		g = &empty
		l.groups[key] = g
		l.order = append(l.order, g)
	}
	g.Count++
	if len(g.Places) < maxPlaces {
		g.Places = append(g.Places, one.At.String())
	}
}

// Groups returns the groups in the order in which they first occurred.
func (l *Log) Groups() []Group {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]Group, len(l.order))
	for i, g := range l.order {
		out[i] = g.worded()
		out[i].Places = slices.Clone(g.Places)
	}
	return out
}

// Worst returns the most severe kind that occurred, 0 if none.
func (l *Log) Worst() (k Kind) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, g := range l.order {
		k = max(k, g.Kind)
	}
	return k
}
