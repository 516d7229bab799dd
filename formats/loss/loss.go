// Package loss is the closed list of what a conversion may fail to carry as it was,
// and a log of what it did. Each loss has a code. The tables in losses/*.txt define
// its kind, its wording, and what it means for the person or the model that
// continues the session. Only reports put losses into words.
package loss

import (
	"fmt"
	"maps"
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
	sizes  map[Code]int      // number of groups
	order  []*Group
}

// Bounds of a log and of a list of groups: a hostile store can have names without end.
const (
	maxGroups = 1000 // of one code; further ones are counted together
	maxArg    = 1 << 10
)

// rest is each shared argument of the group in which further ones are counted.
const rest = "…"

// asRest makes a group the one in which further groups of its code are counted.
func (g *Group) asRest() {
	if len(g.Args) == 0 {
		return
	}
	for _, name := range g.Code.Definition().shared() {
		g.Args[name] = rest
	}
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
		if len(a) > maxArg {
			a = strings.ToValidUTF8(a[:maxArg], "") + rest
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

// Worst returns the most severe kind of some losses, 0 if there are none.
func Worst(groups []Group) (worst Kind) {
	for _, g := range groups {
		worst = max(worst, g.Kind)
	}
	return worst
}

// Merge adds groups to groups. Groups with the same key become one, with the places
// of the first.
func Merge(groups, more []Group) []Group {
	at, sizes := map[string]int{}, map[Code]int{}
	for i := range groups {
		at[groups[i].key()] = i
		sizes[groups[i].Code]++
	}
	for _, g := range more {
		i, ok := at[g.key()]
		if !ok && sizes[g.Code] >= maxGroups {
			g.Args = maps.Clone(g.Args)
			g.asRest()
			g = g.worded()
			i, ok = at[g.key()]
		}
		if !ok {
			at[g.key()] = len(groups)
			sizes[g.Code]++
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
	var fresh Group
	if len(one.Args) > 0 {
		fresh = one.group()
		key = fresh.key()
	}
	g := l.groups[key]
	if g == nil && len(one.Args) == 0 {
		fresh = one.group()
	}
	if g == nil && l.sizes[one.Code] >= maxGroups {
		fresh.asRest()
		key = fresh.key()
		g = l.groups[key]
	}
	if g == nil {
		if l.groups == nil {
			l.groups, l.sizes = map[string]*Group{}, map[Code]int{}
		}
		g = &fresh
		l.groups[key] = g
		l.sizes[one.Code]++
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
