package leaves

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// Law is the law of a codec: how its stores are walked, and what is declared. It counts what the
// stores show of that.
type Law struct {
	*Declared
	Walk    Walk
	Rewrite Rewrite // nil if none of its stores are changed
	Stores  int     // on which it was tested
	Text    int64   // bytes of strings that were looked for in them
	Raw     int64   // and how many of these are only in extra data

	Shared *Law // what is declared for several codecs

	own   int // how many of the declarations are no other law's
	shown map[*Declaration]use
	loose bool // what somebody says can be in extra data
}

// use is what stores show of a declaration.
type use struct{ matched, covered int }

// NewLaw returns the law for the text of declarations. Those of shared, which may be nil, hold
// too: they are of several codecs, and shared.Unused speaks of the stores of all of these.
func NewLaw(t testing.TB, walk Walk, text string, shared *Law) *Law {
	t.Helper()
	d, err := ParseDeclared(text)
	if err != nil {
		t.Fatal(err)
	}
	w := &Law{Declared: d, Walk: walk, own: len(d.list), Shared: shared, shown: map[*Declaration]use{}}
	if shared != nil {
		d.list, w.shown = append(d.list, shared.list...), shared.shown
	}
	return w
}

// Unused returns an error text for each declaration that no store so far needed.
func (w *Law) Unused() (out []string) {
	for _, d := range w.list[:w.own] {
		switch u := w.shown[d]; {
		case u.matched == 0:
			out = append(out, fmt.Sprintf("%s %s: no store has such a leaf", d.Verb, d.Pattern))
		case u.covered == 0 && d.Excuses():
			out = append(out, fmt.Sprintf("%s %s: all of these leaves are found anyway", d.Verb, d.Pattern))
		}
	}
	return out
}

// maxReported is how many kinds of missing leaves are reported of one store.
const maxReported = 60

// Holds tests the law on a store.
func (w *Law) Holds(t testing.TB, f *formats.Format, path string) {
	t.Helper()
	for l := w; l != nil; l = l.Shared {
		l.Stores++
	}
	for _, l := range w.holds(t, f, path, "").leaves {
		w.count(&l)
	}
}

// holds looks for the leaves of a store. what it is begins each report.
func (w *Law) holds(t testing.TB, f *formats.Format, path, what string) *look {
	t.Helper()
	k := newLook(w)
	for r := range w.Walk(t, path, w.Kinds) {
		k.take(r)
	}
	k.decode(t, f, path)
	k.search()
	k.members()
	k.report(t, what)
	return k
}

func newLook(w *Law) *look {
	return &look{law: w, groups: map[string]string{}, grouped: map[string]bool{}, owners: map[string]string{}, messages: map[string][]*pool{}, wide: map[string][]*pool{}, rests: map[string][]*pool{}, rules: map[string][]*Declaration{}}
}

// members takes back the leaves that are not in the member that is declared.
func (k *look) members() {
	for i := range k.leaves {
		l := &k.leaves[i]
		for _, d := range l.rules {
			if d.Verb != "member" || l.Value == "" {
				continue
			}
			if !l.isMember(d.Of) {
				l.found, l.excused, l.member = false, false, d.Of
			}
		}
	}
}

// isMember reports whether a leaf, or what it is another form of, is in a member of a record.
func (l *wanted) isMember(name string) bool {
	keys := []string{l.key()}
	for _, d := range l.rules {
		if d.Verb == "derived" {
			keys = append(keys, derivedKeys(d.Of, l.Leaf)...)
		}
	}
	in := func(o *offer) bool { return o.place == field && o.in == name }
	for _, p := range slices.Concat(l.pools, l.rests) {
		if slices.ContainsFunc(keys, func(key string) bool { return slices.ContainsFunc(p.by[key], in) }) {
			return true
		}
	}
	return false
}

// report reports the leaves that are missing.
func (k *look) report(t testing.TB, what string) {
	t.Helper()
	var order []string
	first, more := map[string]string{}, map[string]int{}
	for i := range k.leaves {
		l := &k.leaves[i]
		if l.found || l.excused {
			continue
		}
		why := k.instead(l)
		key := digits.ReplaceAllString(l.record.Kind+" "+l.Path+why, "")
		if more[key]++; more[key] == 1 {
			order = append(order, key)
			first[key] = fmt.Sprintf("%s%s: %s %s: %.200q %s", what, l.record.At, l.record.Kind, l.Path, l.Value, why)
		}
	}
	for _, key := range order[:min(len(order), maxReported)] {
		if n := more[key] - 1; n > 0 {
			first[key] += fmt.Sprintf(", and %d more", n)
		}
		t.Error(first[key])
	}
	if len(order) > maxReported {
		t.Errorf("leaves of %d more kinds are missing", len(order)-maxReported)
	}
}

func (w *Law) count(l *wanted) {
	if l.Bytes {
		return
	}
	w.Text += int64(len(l.Value))
	if l.found && l.raw {
		w.Raw += int64(len(l.Value))
	}
}

// digits are left out where missing leaves are grouped.
var digits = regexp.MustCompile(`\d+`)

// wanted is a leaf that is looked for.
type wanted struct {
	Leaf
	index   int // in look.leaves
	record  *Record
	rules   []*Declaration
	who     []place // who must say it; nil if that is open
	pools   []*pool
	rests   []*pool
	offer   *offer       // where it was found
	in      []string     // the tellings where it was found
	waits   bool         // it was found in an answer that is not over
	found   bool         // it is in what was decoded
	raw     bool         // in extra data
	excused bool         // a declaration covers it
	member  string       // where it should be, and is not
	twice   string       // the pattern of what it is superseded by, if both are told
	by      *Declaration // which one does
	known   bool         // weak and lost are, see look.weak
	weak    bool
	lost    bool
}

// look is one look at a store.
type look struct {
	law      *Law
	leaves   []wanted
	groups   map[string]string         // of records, by their addresses
	grouped  map[string]bool           // all of these
	owners   map[string]string         // groups by session
	messages map[string][]*pool        // by the address of a record
	wide     map[string][]*pool        // messages by the groups of their records
	rests    map[string][]*pool        // what sessions have besides messages, by the groups of their records
	rules    map[string][]*Declaration // by kind and path
	lost     []loss.Loss
	now      int  // which leaves each takes
	strict   bool // of a writer: values of which there are few are found only at their paths, and losses have the addresses of records
	mine     bool // only where the one who says a leaf speaks first
	sends    bool // one of the tellings is what a model is sent
}

// take takes the leaves of a record, and of the JSON in them.
func (k *look) take(r Record) {
	k.groups[r.At], k.grouped[r.Group] = r.Group, true
	for _, l := range r.Leaves {
		list := []Leaf{l}
		for _, d := range k.rulesOf(r.Kind, l.Path) {
			u := k.law.shown[d]
			u.matched++
			if d.Verb == "derived" && d.Of == "json" {
				if inner, ok := unpack(nil, l); ok {
					list = inner
					u.covered++
				}
			}
			k.law.shown[d] = u
		}
		for _, one := range list {
			want := wanted{index: len(k.leaves), Leaf: one, record: &r, rules: k.rulesOf(r.Kind, one.Path)}
			if !one.Bytes {
				want.Value = scrubbed(one.Value)
			}
			if one.who > extra {
				want.who = []place{one.who}
			}
			for _, d := range want.rules {
				if len(list) > 1 || one.Path != l.Path {
					u := k.law.shown[d]
					u.matched++
					k.law.shown[d] = u
				}
				if d.Verb == "said" && !one.First {
					want.who = append(want.who, speakers(d.Of)...)
				}
			}
			k.leaves = append(k.leaves, want)
		}
	}
}

func (k *look) rulesOf(kind, path string) []*Declaration {
	key := kind + " " + path
	if list, ok := k.rules[key]; ok {
		return list
	}
	var list []*Declaration
	for d := range k.law.All() {
		if d.leaf.matches(strings.Fields(kind), path) {
			list = append(list, d)
		}
	}
	k.rules[key] = list
	return list
}

// decode takes what the codec makes of the store.
func (k *look) decode(t testing.TB, f *formats.Format, path string) {
	t.Helper()
	at, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	v := formats.View{OnNotice: func(string) {}, OnLoss: func(l loss.Loss) { k.lost = append(k.lost, l) }}
	for s, err := range f.Sessions.Decode(t.Context(), at, v, session.Selection{History: true}) {
		if s == nil {
			t.Fatal(err)
		}
		if err != nil {
			continue // whether it may fail is tested elsewhere
		}
		k.session(t, s)
	}
}

// owner returns the group that has the id of a session, or of the one that started it; "" if
// groups are something else.
func (k *look) owner(s *session.Session) string {
	g := ""
	if k.grouped[s.ID] {
		g = s.ID
	} else if s.Parent != nil {
		g = k.owners[s.Parent.Session]
	}
	k.owners[s.ID] = g
	return g
}

func (k *look) session(t testing.TB, s *session.Session) {
	rest, groups := newPool(), map[string]bool{}
	rest.record(s)
	var pools []*pool
	origin := func(p *pool, list []string) {
		pools = append(pools, p)
		for _, lines := range list {
			for at := range expanded(lines) {
				groups[k.groups[at]] = true
				k.messages[at] = append(k.messages[at], p)
			}
		}
	}
	if s.Messages != nil {
		for m, err := range s.Messages {
			if err != nil {
				t.Error(err)
				break
			}
			p := newPool()
			p.message(m, rest)
			origin(p, m.Origin)
		}
	}
	if s.Files != nil {
		for f, err := range s.Files {
			if err != nil {
				t.Error(err)
				break
			}
			p := newPool()
			p.record(f)
			origin(p, f.Origin)
		}
	}
	if g := k.owner(s); g != "" {
		groups = map[string]bool{g: true}
	}
	for g := range groups {
		k.rests[g] = append(k.rests[g], rest)
		k.wide[g] = append(k.wide[g], pools...)
	}
	if len(groups) == 0 {
		k.rests[""], k.wide[""] = append(k.rests[""], rest), append(k.wide[""], pools...)
	}
}

// expanded yields the addresses of a range of lines, such as a.jsonl:3-5, or the address itself.
func expanded(at string) iter.Seq[string] {
	return func(yield func(string) bool) {
		colon := strings.LastIndexByte(at, ':')
		first, last, ok := strings.Cut(at[colon+1:], "-")
		from, err := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if !ok || err != nil || err2 != nil || to-from > 1<<20 {
			yield(at)
			return
		}
		for n := from; n <= to && yield(fmt.Sprintf("%s:%d", at[:colon], n)); n++ {
		}
	}
}

// instead says what was found instead of a leaf.
func (k *look) instead(l *wanted) string {
	if l.twice != "" {
		return "is told, and so is that of " + l.twice
	}
	if l.member != "" {
		return "is not in " + l.member
	}
	if o := find(slices.Concat(l.pools, l.rests), l.key(), func(*offer) bool { return true }); o != nil {
		if l.who != nil {
			return "is what " + o.place.String() + " says"
		}
		return "is in extra data of another path: " + o.path
	}
	if l.pools == nil {
		return "is missing: no message comes from that record"
	}
	return "is missing"
}
