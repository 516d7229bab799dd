package leaves

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rehome/formats/loss"
	"rehome/formats/store"
)

// every stands for all tellings.
const every = "*"

// search looks for the leaves of each telling.
func (k *look) search() {
	var tellings []string
	for i := range k.leaves {
		l := &k.leaves[i]
		l.pools, l.rests = k.messages[l.record.At], k.rests[l.record.Group]
		if l.record.Wide {
			l.pools = k.wide[l.record.Group]
		}
		if l.rests == nil {
			l.rests = k.rests[""]
		}
		if !slices.Contains(tellings, l.record.Telling) {
			tellings = append(tellings, l.record.Telling)
		}
	}
	for _, telling := range tellings {
		k.fresh()
		k.searchOne(telling)
	}
	k.supersede()
	k.each(every, k.keep)
	if k.law.loose {
		k.each(every, k.keepAny)
	}
	k.each(every, k.drop)
}

// keep finds what somebody says in extra data, if that is declared.
func (k *look) keep(l *wanted) {
	for _, d := range l.rules {
		if d.Verb != "kept" || !strings.HasPrefix(path.Base(l.record.At), d.Of+":") {
			continue
		}
		if k.keepAny(l); l.found {
			k.cover(d)
		}
	}
}

// keepAny finds a leaf in extra data, whoever says it.
func (k *look) keepAny(l *wanted) {
	for _, cut := range []bool{false, true} {
		if !l.found {
			l.take(find(slices.Concat(l.pools, l.rests), l.key(), func(o *offer) bool { return o.place == extra && l.under(o.path, cut) }))
		}
	}
}

// drop excuses a leaf that is declared not to arrive. What somebody says, and in a store what is
// declared to repeat it, is lost only if a loss names it.
func (k *look) drop(l *wanted) {
	repeats := slices.ContainsFunc(l.rules, (*Declaration).repeats)
	for _, d := range l.rules {
		if d.Verb == "dropped" && (l.who == nil || k.strict && l.plain()) && (k.strict || !repeats) || d.Verb == "secret" || d.Verb == "lost" && k.named(d, l) {
			k.excuse(l, d)
			return
		}
	}
}

// fresh makes all offers anew, for the next telling.
func (k *look) fresh() {
	for _, pools := range []map[string][]*pool{k.messages, k.wide, k.rests} {
		for _, list := range pools {
			for _, p := range list {
				p.fresh()
			}
		}
	}
}

// each calls step with each leaf that is missing, of one telling or, for every, of all. Those that
// can be excused come last, so that they take nothing from what must arrive; and of the others, and
// of these, those that can be in many messages.
func (k *look) each(telling string, step func(l *wanted)) {
	order := make([]int, len(k.leaves))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return max(1, len(k.leaves[a].pools)) - max(1, len(k.leaves[b].pools)) })
	for _, weak := range []bool{false, true} {
		for _, i := range order {
			l := &k.leaves[i]
			if l.found || l.excused || telling != every && l.record.Telling != telling {
				continue
			}
			if is, lost := k.weak(l); is == weak && (k.now == anyLoss || lost == (k.now == lostOnes)) {
				step(l)
			}
		}
	}
}

// piece reports whether the leaf can be a piece of a text, which may be the whole of another one.
func (l *wanted) piece() bool {
	return slices.ContainsFunc(l.rules, func(d *Declaration) bool { return d.Verb == "derived" && d.Of == "joined" })
}

// weak reports whether a declaration can excuse the leaf without a loss, and whether a loss that
// is declared names it.
func (k *look) weak(l *wanted) (weak, lost bool) {
	if !l.known {
		for _, d := range l.rules {
			l.lost = l.lost || k.strict && d.Verb == "lost" && k.named(d, l)
			l.weak = l.weak || d.Verb == "dropped" || d.repeats()
		}
		l.weak, l.known = l.weak || l.lost, true
	}
	return l.weak, l.lost
}

// The leaves that each takes.
const (
	anyLoss  = iota
	wellOnes // of which nothing is lost
	lostOnes // that a loss names
)

// named reports whether the loss that a declaration speaks of names the leaf's record.
func (k *look) named(d *Declaration, l *wanted) bool {
	return k.names(d.Of, l.record.At) || l.record.turn != "" && k.names(d.Of, l.record.turn)
}

// searchOne looks for the leaves of one telling: first those that somebody must say, then those
// that extra data has under their path, then the others.
func (k *look) searchOne(telling string) {
	each := func(step func(l *wanted)) { k.each(telling, step) }
	for _, first := range []bool{true, false} { // summaries, which can repeat what others say
		for _, own := range k.passes() {
			each(func(l *wanted) {
				if l.who != nil && !l.piece() && first == (k.strict && l.Leaf.who == summed) {
					l.take(find(l.pools, l.key(), func(o *offer) bool {
						return l.allowed(o) && (!own || o.place == l.Leaf.who && (l.Leaf.who != summed || !k.sends))
					}))
				}
			})
		}
	}
	long := func(l *wanted) {
		if !k.strict || len(l.Value) >= short && !l.plain() {
			k.derive(l, false)
		}
	}
	if k.mine = k.strict; k.mine { // before others take a text that has the same words
		each(long)
		k.mine = false
	}
	each(long)
	each(func(l *wanted) { k.derive(l, false) })
	for _, cut := range []bool{false, true} {
		each(func(l *wanted) {
			if l.who == nil && !l.numbered() && !(k.strict && l.plain()) {
				l.take(find(slices.Concat(l.pools, l.rests), l.key(), func(o *offer) bool { return o.place == extra && l.under(o.path, cut) }))
			}
		})
	}
	each(func(l *wanted) {
		if l.who == nil && !(k.strict && l.plain()) {
			l.take(cmp.Or(find(l.pools, l.key(), func(o *offer) bool { return o.place > extra }),
				find(slices.Concat(l.pools, l.rests), l.key(), func(o *offer) bool { return o.place == field || l.numbered() })))
		}
	})
	each(func(l *wanted) { k.derive(l, true) })
}

// passes are those in which what somebody says is looked for: of a writer, first where the same one
// speaks.
func (k *look) passes() []bool {
	if k.strict {
		return []bool{true, false}
	}
	return []bool{false}
}

// short is the length of values that can stand within others by chance.
const short = 4

// plain reports whether the value is one of few, so that it is found anywhere.
func (l *wanted) plain() bool {
	_, err := strconv.Atoi(l.Value)
	return l.Value == "true" || l.Value == "false" || err == nil && len(l.Value) < 6
}

func (l *Leaf) key() string {
	if l.Bytes {
		return asBytes + l.Value
	}
	return asText + l.Value
}

func (l *wanted) take(o *offer) {
	if o != nil {
		l.offer, o.used, o.text, l.found, l.raw = o, true, "", true, o.place == extra
	}
}

// allowed reports whether an offer is where the leaf must be.
func (l *wanted) allowed(o *offer) bool {
	return slices.ContainsFunc(l.who, func(p place) bool { return p == o.place || slices.Contains(o.also, p) })
}

// under reports whether extra data is under the path of the leaf. Its name can begin with a word
// of the codec's, which is cut, or with several before all of the path.
func (l *wanted) under(extra string, cut bool) bool {
	if cut {
		_, rest, ok := strings.Cut(extra, ".")
		if extra = rest; !ok {
			return false
		}
	}
	own := plainPath(l.Path)
	extra = elements.ReplaceAllString(extra, "")
	return extra == "" || own == extra || strings.HasSuffix(own, "."+extra) || cut && strings.HasSuffix(extra, "."+own)
}

// elements are the numbers of elements in a path.
var elements = regexp.MustCompile(`\.\d+\b`)

// names reports whether a loss of a code names a record, its table or its file.
func (k *look) names(code, at string) bool {
	return slices.ContainsFunc(k.lost, func(l loss.Loss) bool {
		if k.strict {
			return string(l.Code) == code && l.At.File == at
		}
		return string(l.Code) == code && (within(at, l.At, l.At.Short()) || within(at, l.At, l.At.String()))
	})
}

// within reports whether the address of a record begins with that of a loss.
func within(at string, of store.Addr, name string) bool {
	if of.Set == "" && of.Line == 0 { // a file, for the sake of a session
		name, _, _ = strings.Cut(name, " (")
	}
	if of.File == "" && of.Set == "" && of.Line > 0 { // a line of a store of one file
		return strings.HasSuffix(at, name)
	}
	rest, ok := strings.CutPrefix(at, name)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], "#/: "))
}

// numbered reports whether the path is of a field of a message.
func (l *wanted) numbered() bool { return strings.Trim(l.Path, "0123456789.") == "" }

// maxFollowing is how many pieces of a text are looked at to know it.
const maxFollowing = 40

// following returns the values of a leaf and of those after it that can be pieces of the same text.
func (k *look) following(l *wanted) (out []string) {
	for i := l.index; i < len(k.leaves) && len(out) < maxFollowing; i++ {
		o := &k.leaves[i]
		if o.record.Kind == l.record.Kind && o.Path == l.Path && o.record.Group == l.record.Group && o.record.Telling == l.record.Telling {
			out = append(out, o.Value)
		}
	}
	return out
}

func (k *look) excuse(l *wanted, d *Declaration) {
	l.excused, l.by = true, d
	k.cover(d)
}

func (k *look) cover(d *Declaration) {
	u := k.law.shown[d]
	u.covered++
	k.law.shown[d] = u
}

// derive looks for another form of a leaf: late, when all others are found, for those that are not the same.
func (k *look) derive(l *wanted, late bool) {
	ok := l.allowed
	if l.who == nil {
		ok = func(*offer) bool { return true }
	} else if k.mine {
		ok = func(o *offer) bool { return o.place == l.Leaf.who && l.allowed(o) }
	}
	pools := slices.Concat(l.pools, l.rests)
	for _, d := range l.rules {
		if d.Verb != "derived" || d.Of == "within" && l.who == nil || (d.Of == "later") != late {
			continue
		}
		var list []*offer
		switch d.Of {
		case "joined":
			if o := joined(pools, k.following(l), ok); o != nil {
				list = []*offer{o}
			}
		case "within":
			if o := inside(pools, l.Value, ok); o != nil {
				list = []*offer{o}
			}
		case "letters":
			if o := lettered(pools, l.Value, ok); o != nil {
				list = []*offer{o}
			}
		case "tagged":
			list = tagged(pools, l.Value, ok)
		case "members":
			list = valuesOf(pools, l.Value)
		case "mixed":
			list = mixed(pools, l.Value, ok)
		default:
			ok := ok
			how, under, only := strings.Cut(d.Of, "@")
			if only {
				ok = func(o *offer) bool { return o.path == under || o.of != "" && o.of+"/"+o.path == under }
			}
			if d.Of == "field" {
				ok = func(o *offer) bool { return strings.Trim(o.path, "0123456789.") == "" }
			}
			if at, renamed := strings.CutPrefix(d.Of, "as:"); renamed {
				below, all := strings.CutSuffix(at, "**")
				ok = func(o *offer) bool {
					return o.path == at || o.of+"/"+o.path == at || all && strings.HasPrefix(o.path, below) && path.Ext("."+o.path) == l.last()
				}
			}
			for _, key := range derivedKeys(how, l.Leaf) {
				o := find(pools, key, ok)
				if o == nil && !only && strings.HasPrefix(d.Of, "is:") { // a word for a state can be in a field
					o = find(pools, key, func(o *offer) bool { return o.place == field })
				}
				if o != nil && len(list) == 0 {
					list = []*offer{o}
				}
			}
		}
		for _, o := range list {
			if l.offer, o.used, l.found = o, true, true; d.Of != "joined" && d.Of != "within" {
				o.text = ""
			}
		}
		if l.found {
			k.cover(d)
			return
		}
	}
}

// last returns the last name of the path of a leaf: that of an extra is its own.
func (l *Leaf) last() string {
	name := path.Ext(plainPath(l.Path))
	if name == ".raw" && l.name != "" {
		return "." + l.name
	}
	return name
}

// supersede excuses leaves whose value arrives from another one. What somebody says is superseded
// once by each leaf, for each declaration.
func (k *look) supersede() {
	arrived := map[*Declaration]map[string]int{}
	for d := range k.law.All() {
		if d.repeats() {
			arrived[d] = map[string]int{}
		}
	}
	by := map[string][]*Declaration{}
	for i := range k.leaves {
		l := &k.leaves[i]
		if !l.found {
			continue
		}
		key := l.record.Kind + " " + l.Path
		list, ok := by[key]
		if !ok {
			for d := range arrived {
				if d.by.matches(strings.Fields(l.record.Kind), l.Path) {
					list = append(list, d)
				}
			}
			by[key] = list
		}
		for _, d := range list {
			arrived[d][l.Value]++
		}
	}
	for i := range k.leaves {
		l := &k.leaves[i]
		for _, d := range l.rules {
			value, ok := l.Value, d.repeats() && !l.found && !l.excused
			if ok && d.Verb == "quoted" {
				value = quoting(arrived[d], value)
			}
			if !ok || arrived[d][value] == 0 {
				continue
			}
			if k.excuse(l, d); l.who != nil {
				arrived[d][value]--
			}
		}
	}
	if !k.strict && !k.law.loose {
		k.twice(arrived)
	}
}

// twice takes back what somebody says and is told, although what supersedes it is told, too, as
// often as the client wrote it.
func (k *look) twice(arrived map[*Declaration]map[string]int) {
	for i := range k.leaves {
		l := &k.leaves[i]
		if l.who == nil || !l.found || l.offer == nil || l.offer.place <= extra {
			continue
		}
		for _, d := range l.rules {
			if d.Verb == "superseded" && arrived[d][l.Value] > 0 && !d.by.matches(strings.Fields(l.record.Kind), l.Path) {
				l.found, l.twice = false, d.By
			}
		}
	}
}

// quoting returns the first of the texts that has a value in it, but for white space around that;
// "" if none has.
func quoting(texts map[string]int, value string) string {
	value = strings.TrimSpace(value)
	for _, text := range slices.Sorted(maps.Keys(texts)) {
		if texts[text] > 0 && strings.Contains(text, value) {
			return text
		}
	}
	return ""
}
