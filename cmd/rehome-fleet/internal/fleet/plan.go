package fleet

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"rehome/cmd/rehome-fleet/internal/bucket"
	"rehome/formats"
)

// Recipe is what happens to every store. The same members and the same recipe have the same
// unit id, and the same results.
type Recipe struct {
	Verb    string `json:"verb"`
	Version string `json:"version"` // of this program
}

// The lines of a plan: a Header, units and other objects, and a Total.
type (
	// Header is the first line.
	Header struct {
		Type   string `json:"type"` // plan
		Schema int    `json:"version"`
		Source string `json:"source"`
		Recipe Recipe `json:"recipe"`
	}
	// Unit is whole stores of one machine, which are done together.
	Unit struct {
		Type    string  `json:"type"` // unit
		ID      string  `json:"id"`
		Machine string  `json:"machine"`
		Bytes   int64   `json:"bytes"`
		Seconds float64 `json:"core_seconds"`
		Scratch int64   `json:"scratch_bytes"` // of its largest store
		Giant   bool    `json:"giant,omitempty"`
		Stores  []Store `json:"stores"`
	}
	// Store is a store and its objects.
	Store struct {
		Path    string   `json:"path"`
		Kind    string   `json:"kind"` // by its name; what it really is shows when it is read
		Bytes   int64    `json:"bytes"`
		Objects int64    `json:"objects"`
		Members []Member `json:"members"`         // none of a giant store
		Lacks   string   `json:"lacks,omitempty"` // an object of it that cannot be read, and why: it is not read without that
	}
	// Member is an object of a store.
	Member struct {
		Key  string `json:"key"`
		Size int64  `json:"size"`
		Tag  string `json:"tag"`
	}
	// Other is an object that belongs to no store.
	Other struct {
		Type   string `json:"type"` // other
		Key    string `json:"key"`
		Size   int64  `json:"size"`
		Reason string `json:"reason"`
	}
	// Total is the last line. It adds up the lines before it.
	Total struct {
		Type       string           `json:"type"` // total
		Units      int64            `json:"units"`
		Stores     int64            `json:"stores"`
		Kinds      map[string]int64 `json:"kinds"` // stores of each
		Giants     int64            `json:"giants"`
		Objects    int64            `json:"objects"`
		Bytes      int64            `json:"bytes"`
		Others     int64            `json:"others"`
		OtherBytes int64            `json:"other_bytes"`
		Largest    int64            `json:"largest_store_bytes"`
		Seconds    float64          `json:"core_seconds"`
		Scratch    int64            `json:"scratch_bytes"` // that one store needs at most
		Digest     string           `json:"sha256"`        // of the lines before this one
	}
)

const (
	maxStores  = 2000    // of a unit
	maxMembers = 100_000 // of a unit, and of a store that is not giant
	planSchema = 1
)

// Planner makes plans.
type Planner struct {
	Recipe   Recipe
	Source   bucket.Bucket
	UnitSize int64
	MaxStore int64 // a larger store is not read
}

// Plan lists the source once and writes the plan.
func (p Planner) Plan(ctx context.Context, out io.Writer) (*Total, error) {
	s, err := newSpool()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	known := newNames()
	for o, err := range p.Source.List(ctx) {
		if err != nil {
			return nil, err
		}
		if o.Bad == "" {
			o.Bad = bucket.Unsafe(o.Key)
		}
		if o.Bad == "" {
			known.see(o.Key)
		}
		if err := s.put(o); err != nil {
			return nil, err
		}
	}
	w := &planWriter{sum: sha256.New(), out: bufio.NewWriterSize(out, 1<<20), planner: p}
	w.total = Total{Type: "total", Kinds: map[string]int64{}}
	w.line(Header{"plan", planSchema, p.Source.Name(), p.Recipe})
	g := grouper{names: known, emit: w.store, other: w.other}
	for o, err := range s.all() {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
		g.add(o)
		if w.err != nil {
			return nil, w.err
		}
	}
	g.close("")
	w.flush()
	if w.total.Objects == 0 { // a wrong prefix, or a disk that is not mounted
		return nil, &formats.Error{At: p.Source.Name(), Err: errors.New("no objects found"), Hint: "check the path"}
	}
	w.total.Digest = hex.EncodeToString(w.sum.Sum(nil))
	w.line(w.total)
	return &w.total, errors.Join(w.err, w.out.Flush())
}

// planWriter fills units with stores and writes them.
type planWriter struct {
	planner Planner
	sum     hash.Hash
	out     *bufio.Writer
	total   Total
	unit    Unit
	objects int64 // of the unit
	err     error
}

func (w *planWriter) line(v any) {
	b, err := encode(v)
	if err == nil {
		w.sum.Write(b)
		_, err = w.out.Write(b)
	}
	w.err = errors.Join(w.err, err)
}

// encode returns a line of JSON.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

func (w *planWriter) other(o bucket.Object) {
	w.total.Objects++
	w.total.Others++
	w.total.OtherBytes += o.Size
	key := o.Key
	if strings.ToValidUTF8(key, "") != key {
		key = fmt.Sprintf("%q", key)
	}
	w.line(Other{"other", key, o.Size, o.Bad})
}

func (w *planWriter) store(s Store) {
	machine, _, _ := strings.Cut(s.Path, "/")
	if !strings.Contains(s.Path, "/") && len(s.Members) > 0 && s.Members[0].Key == s.Path {
		machine = "" // a file at the top
	}
	giant := s.Bytes > w.planner.MaxStore || s.Members == nil
	if u := &w.unit; len(u.Stores) > 0 && (giant || u.Giant || u.Machine != machine || u.Bytes+s.Bytes > w.planner.UnitSize || len(u.Stores) == maxStores || w.objects+s.Objects > maxMembers) {
		w.flush()
	}
	u := &w.unit
	u.Machine, u.Giant = machine, giant
	u.Stores = append(u.Stores, s)
	u.Bytes += s.Bytes
	w.objects += s.Objects
	t := &w.total
	t.Stores++
	t.Kinds[s.Kind]++
	t.Objects += s.Objects
	t.Bytes += s.Bytes
	t.Largest = max(t.Largest, s.Bytes)
	if giant {
		s.Members, u.Stores[0].Members = nil, []Member{}
		t.Giants++
		return
	}
	v := verbNamed(w.planner.Recipe.Verb)
	u.Seconds += v.seconds(s)
	u.Scratch = max(u.Scratch, v.scratch(s))
}

// flush ends a unit.
func (w *planWriter) flush() {
	if len(w.unit.Stores) == 0 {
		return
	}
	w.unit.Type = "unit"
	w.unit.ID = w.unit.id(w.planner.Recipe)
	w.total.Units++
	w.unit.Seconds = round(w.unit.Seconds)
	w.total.Seconds = round(w.total.Seconds + w.unit.Seconds)
	w.total.Scratch = max(w.total.Scratch, w.unit.Scratch)
	w.line(w.unit)
	w.objects = 0
	w.unit = Unit{Stores: w.unit.Stores[:0]}
}

// id is a digest of what the result of a unit depends on.
func (u *Unit) id(r Recipe) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q %v\n", r.Verb, r.Version, u.Giant)
	for _, s := range u.Stores {
		fmt.Fprintf(sum, "%q %q %d %d %q\n", s.Path, s.Kind, s.Bytes, s.Objects, s.Lacks)
		for _, m := range s.Members {
			fmt.Fprintf(sum, "%q %d %q\n", m.Key, m.Size, m.Tag)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

func damaged(place, what string, args ...any) error {
	return &formats.Error{At: place, Err: fmt.Errorf("damaged plan: "+what, args...), Hint: "run `rehome-fleet plan` again"}
}
