package leaves

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"rehome/formats/loss"
	"rehome/formats/session"
)

// Writer is the law of a writer: what a session has is in what is written of it, and nothing else.
// It is the law of leaves for both: each leaf of a session is looked for among those of the
// target, and each that nobody looked for must be declared as invented. Who says a leaf of the
// target is what the declarations of its reader say.
type Writer struct {
	From, To *Law // what is declared of the leaves of sessions, and of those of the target
	Drafts   bool // what it writes is looked for in its drafts, and not in what they are joined to
	Lined    bool // each record becomes a line, and each leaf a member of its name, in their order

	reader *Law
}

// NewWriter returns the law of a writer. text is its writes.txt: the declarations for sessions,
// whose kinds are those of records, and then those for the target, each as in leaves.txt. Those of
// shared, which may be nil, hold too, as in NewLaw.
func NewWriter(t testing.TB, reader *Law, text string, shared *Writer) *Writer {
	t.Helper()
	if shared == nil {
		shared = &Writer{}
	}
	from, to := Writes(text)
	return &Writer{From: NewLaw(t, nil, from, shared.From), To: NewLaw(t, nil, to, shared.To), reader: reader}
}

// Unused returns an error text for each declaration that nothing so far needed.
func (w *Writer) Unused() []string { return append(w.From.Unused(), w.To.Unused()...) }

// Of is the law for another container of the same records, whose uses of declarations count here, too.
func (w *Writer) Of(reader *Law) *Writer {
	of := *w
	of.reader = reader
	return &of
}

// Writes returns the declarations of a writes.txt for sessions, and those for the target.
func Writes(text string) (from, to string) {
	at := strings.LastIndex(text, "\nkinds ")
	if at < 0 {
		return text, ""
	}
	return text[:at], text[at+1:]
}

// Source is a session that was written, and what the writer reported of it.
type Source struct {
	leaves []Record
	Lost   []loss.Loss
}

// Source takes the leaves of a session.
func (w *Writer) Source(t testing.TB, s *session.Session) *Source {
	t.Helper()
	return &Source{leaves: records(t, s, w.Lined)}
}

// Holds tests the law on sessions and the store at a path that they were written to.
func (w *Writer) Holds(t testing.TB, sessions []*Source, path string) {
	t.Helper()
	from, to := newLook(w.From), newLook(w.To)
	for _, s := range sessions {
		for _, r := range s.leaves {
			from.take(r)
		}
		from.lost = append(from.lost, s.Lost...)
	}
	for i := range from.leaves {
		if l := &from.leaves[i]; l.Leaf.who == 0 {
			l.who = nil // only of what somebody says, declarations tell who else can
		}
	}
	from.strict, from.sends = true, w.Tells()
	offers, tellings, order := w.offers(t, to, path)
	if w.Lined {
		from.lined(t, tellings, order)
	} else {
		from.told(t, tellings, order)
		from.untold(t)
	}
	from.supersede()
	from.each(every, from.drop)
	from.report(t, "lost: ")
	if !w.Lined {
		from.together(t, to.leaves)
	}
	for i := range to.leaves {
		o := offers[i]
		to.leaves[i].found = o.used && strings.TrimSpace(strings.ReplaceAll(o.text, gap, "")) == ""
	}
	to.supersede()
	copies := from.copies()
	to.each(every, func(l *wanted) { to.copied(l, copies) })
	to.each(every, func(l *wanted) {
		if o := offers[l.index]; o.used {
			l.Value = o.text
		}
	})
	to.supersede()
	to.each(every, to.invent)
	to.report(t, "invented: ")
}

// Tells reports whether something must be in one of several tellings.
func (w *Writer) Tells() bool {
	return slices.ContainsFunc(w.From.list, func(d *Declaration) bool { return d.Verb == "told" })
}

// told looks for the leaves of sessions in each telling.
func (k *look) told(t testing.TB, tellings map[string]*pool, order []string) {
	found := make([]bool, len(k.leaves))
	for _, telling := range order {
		list := []*pool{tellings[telling]}
		for i := range k.leaves {
			l := &k.leaves[i]
			l.pools, l.rests, l.found, l.offer = list, nil, false, nil
		}
		for _, k.now = range []int{wellOnes, lostOnes} { // what is lost takes nothing from what is not
			k.each(every, k.own)
			k.searchOne("")
		}
		k.now = anyLoss
		k.ordered(t)
		for i := range k.leaves {
			l := &k.leaves[i]
			if found[i] = found[i] || l.found; l.found {
				l.in = append(l.in, telling)
			}
			if l.found && l.offer != nil && waits.MatchString(l.offer.path) {
				l.waits = true
			}
		}
	}
	for i := range k.leaves {
		k.leaves[i].found = found[i]
	}
}

// waits is the path of JSON in a message of protobuf: an answer that is not over, which stands apart.
var waits = regexp.MustCompile(`^[0-9.]+\.[a-z]`)

// untold reports what is said and found, but not in each telling where it must be. Abandoned turns
// and commands of the user are not, nor is what a loss names.
func (k *look) untold(t testing.TB) {
	t.Helper()
	for i := range k.leaves {
		l := &k.leaves[i]
		if l.Leaf.who <= extra || !l.found || l.waits || l.plain() || l.record.command || l.record.turn != "" || len(l.Value) < 2*short && strings.Contains(l.Path, ".Input") {
			continue
		}
		for _, d := range l.rules {
			where, only, _ := strings.Cut(d.Of, "@")
			if d.Verb != "told" || strings.Contains(only, "root") && l.record.kid || strings.Contains(only, "turn") && l.record.loose {
				continue
			}
			if slices.ContainsFunc(l.in, func(at string) bool { return strings.HasPrefix(at, where) }) {
				k.cover(d)
			} else if !k.reported(l) {
				t.Errorf("not told in %s: %s: %s %s: %.200q", where, l.record.At, l.record.Kind, l.Path, l.Value)
			}
		}
	}
}

// reported reports whether a loss that is declared of a leaf names its record.
func (k *look) reported(l *wanted) bool {
	i := slices.IndexFunc(l.rules, func(d *Declaration) bool { return d.Verb == "lost" && k.named(d, l) })
	if i >= 0 {
		k.cover(l.rules[i])
	}
	return i >= 0
}

// ordered tests that what the user and the model said, if they said it once, is in its order.
// Arguments of one call have none, and what is not sent can be elsewhere.
func (k *look) ordered(t testing.TB) {
	t.Helper()
	times := map[string]int{}
	speaks := func(l *wanted) bool {
		return (l.Leaf.who == user || l.Leaf.who == model || l.Leaf.who == thought) && len(l.Value) >= short && !l.plain() &&
			(strings.HasSuffix(l.Path, ".Text") || strings.Contains(l.Path, ".Input") && len(l.Value) >= 2*short)
	}
	for i := range k.leaves {
		if l := &k.leaves[i]; speaks(l) {
			times[l.Value]++
		}
	}
	var last *wanted
	for i := range k.leaves {
		l := &k.leaves[i]
		if strings.HasPrefix(l.record.Kind, "session ") {
			last = nil
		}
		if !l.found || l.offer == nil || waits.MatchString(l.offer.path) || !speaks(l) || times[l.Value] > 1 || l.record.aside || last != nil && l.part > 0 && l.part == last.part {
			continue
		}
		if last != nil && last.offer.index > l.offer.index {
			t.Errorf("out of order: %s: %s %s: %.100q is before %s: %.100q", l.record.At, l.record.Kind, l.Path, l.Value, last.record.At, last.Value)
		}
		last = l
	}
}

// besides are the paths of what a client records besides what is said.
var besides = regexp.MustCompile(`(?:args|value)\.`)

// own finds a leaf that the target has under the same name, before others with its value take that.
func (k *look) own(l *wanted) {
	if l.who != nil {
		return
	}
	path := strings.ToLower(strings.TrimSuffix(plainPath(l.Path), "~"))
	names, turn := strings.Split(path, "."), strings.HasPrefix(path, "turn.")
	switch {
	case turn:
		names = append([]string{"rehome"}, names...)
	case strings.HasPrefix(l.record.Kind, "session "):
		names = append([]string{"session"}, names...)
	case names[0] == "parts":
		names = names[max(1, len(names)-2):]
	}
	name := "." + strings.Join(names, ".")
	for _, key := range append(derivedKeys("time", l.Leaf), l.key()) {
		if !l.found {
			l.take(find(l.pools, key, func(o *offer) bool {
				at := "." + strings.ToLower(o.path)
				return strings.HasSuffix(at, name) && (o.place <= extra || len(names) > 1 && !strings.Contains(path, "extras.") && !(k.sends && besides.MatchString(path))) && (turn || !strings.HasPrefix(at, ".rehome.turn.")) && (names[0] == "session" || !strings.HasPrefix(at, ".session."))
			}))
		}
	}
}

// offers walks over what was written. It returns the offer of each leaf, and pools of them by the
// tellings of the conversation.
func (w *Writer) offers(t testing.TB, k *look, path string) (out []*offer, pools map[string]*pool, order []string) {
	t.Helper()
	pools = map[string]*pool{}
	reader := newLook(&Law{Declared: w.reader.Declared, shown: map[*Declaration]use{}})
	for r := range w.reader.Walk(t, path, w.reader.Kinds) {
		if w.Lined {
			r.Telling = strconv.Itoa(len(order))
		}
		p := pools[r.Telling]
		if p == nil {
			p = newPool()
			pools[r.Telling] = p
			order = append(order, r.Telling)
		}
		first := len(k.leaves)
		k.take(r)
		client := slices.ContainsFunc(k.leaves[first:], func(l wanted) bool {
			return l.Value == "true" && slices.ContainsFunc(l.rules, func(d *Declaration) bool { return d.Verb == "client" })
		})
		for i := range k.leaves[first:] {
			l := &k.leaves[first+i]
			for _, d := range reader.rulesOf(l.record.Kind, l.Path) {
				if d.Verb == "said" && !l.First {
					l.who = append(l.who, speakers(d.Of)...)
				}
			}
			if client {
				l.who = slices.DeleteFunc(l.who, func(p place) bool { return p == user })
			}
			o := p.stands(l)
			o.index, o.of = len(out), strings.Fields(l.record.Kind)[0]
			out = append(out, o)
		}
	}
	return out, pools, order
}

// stands adds a leaf of a target.
func (p *pool) stands(l *wanted) *offer {
	o := &offer{place: field, path: plainPath(l.Path), text: l.Value, whole: l.Value}
	if len(l.who) > 0 {
		o.place, o.also = l.who[0], l.who[1:]
	}
	if !l.Bytes && o.place > extra {
		p.texts = append(p.texts, o)
	}
	keys := []string{l.key()}
	if at, err := time.Parse(time.RFC3339Nano, strings.TrimPrefix(l.Value, "~")); err == nil {
		keys = append(keys, asTime+strconv.FormatInt(at.UnixMilli(), 10))
	}
	if ms, err := strconv.ParseInt(strings.TrimPrefix(l.Value, "~"), 10, 64); err == nil && ms > 1e11 {
		keys = append(keys, asTime+strconv.FormatInt(ms, 10))
	}
	for _, key := range keys {
		p.by[key] = append(p.by[key], o)
	}
	return o
}

// copies are the keys of all values that can be repeated: also lines, times as ISO 8601, the
// names of members, which are keys of maps in a message, and what is in the base64 of an unknown field.
func (k *look) copies() map[string]bool {
	out := map[string]bool{}
	var add func(l Leaf)
	add = func(l Leaf) {
		out[l.key()] = true
		if ms, err := strconv.ParseInt(l.Value, 10, 64); err == nil && ms > 1e11 {
			out[asText+time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")] = true
		}
		for line := range strings.Lines(l.Value) {
			out[asText+strings.TrimRight(line, "\r\n")] = true
		}
		if b, err := base64.StdEncoding.DecodeString(l.Value); err == nil && !l.Bytes && len(b) > 0 {
			(&protobuf{has: func(string) bool { return false }, add: add}).bytes("", b, 0)
			out[asText+string(b)], out[asBytes+string(b)] = true, true
		}
	}
	for i := range k.leaves {
		add(k.leaves[i].Leaf)
		for _, name := range k.leaves[i].record.names {
			out[asText+scrubbed(name)] = true
		}
	}
	return out
}

// copied excuses what is declared to repeat a value.
func (k *look) copied(l *wanted, copies map[string]bool) {
	for _, d := range l.rules {
		if d.Verb == "copied" && copies[l.key()] {
			k.excuse(l, d)
			return
		}
	}
}

// invent excuses what is declared to be made by the writer. Of what somebody says, the text is
// declared, too.
func (k *look) invent(l *wanted) {
	for _, d := range l.rules {
		if d.Verb == "invented" && (d.text == nil && l.who == nil || d.text != nil && d.text.MatchString(strings.Join(strings.Fields(l.Value), " "))) {
			k.excuse(l, d)
			return
		}
	}
}
