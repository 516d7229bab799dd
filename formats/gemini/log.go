package gemini

import (
	"context"
	"hash/maphash"
	"iter"
	"strings"

	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/lineclient"
	"rehome/formats/internal/lines"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// log is a file in which later lines change earlier ones, replayed as the client does, and
// told as a tree: each message follows the one that it followed when it was left, or follows
// now. What was compacted comes first; the last record, which says nothing, follows the end.
type log struct {
	lineclient.Source
	seed     maphash.Seed
	records  []record
	at       map[uint64]int32 // the last state of a message
	answered map[uint64]int32 // what has the result of a call with it

	archived, path []int32 // what was compacted, and what is sent
	told           []int32 // the records that are told, see tell
	before         []int32 // what each of them follows; -1: nothing
	older          session.Account
	bad            map[int32]jsonl.Line // lines that cannot be read, without their bytes
	ctx            context.Context
	last           int32 // the record with lastID
	lastID         string
}

// tip stands for the last record, and the members are what the log adds to records.
const (
	tip     = -2
	tipKind = "$end"
	before  = "$before"
	keeps   = "$keeps"
	known   = "$known"
)

// record is what is kept of a message or another line.
type record struct {
	offset int64
	size   int32
	line   int32
	place  int32 // in path
	up     int32 // of what was left: what it follows; -1: nothing
	of     int32 // of a line that repeats results: what has them
	was    int32 // an earlier state, or a line that repeats its results; -1: none
	is     flags
}

type flags uint16

const (
	inner    flags = 1 << iota // one of a list
	gone                       // a later state of it is kept
	left                       // it was rewound, or dropped from a list
	differs                    // a later state of it says something else
	answers                    // it only repeats results that stand with their calls
	more                       // so it does, but for members that nobody knows
	summary                    // it stands for what was compacted
	aside                      // a setting, or a line that the client ignores
	unlinked                   // it is no part of the conversation
)

// replay makes the records of a session of the lines of its file.
func replay(lines lineclient.Source) lineclient.Source {
	return &log{Source: lines, seed: maphash.MakeSeed(), last: tip}
}

// Each reads the file twice: to replay it, and to tell what came of it.
func (g *log) Each(ctx context.Context) iter.Seq2[jsonl.Line, error] {
	return func(yield func(jsonl.Line, error) bool) {
		g.ctx = ctx
		defer g.Source.Close()
		if g.told == nil {
			g.at, g.answered, g.bad = map[uint64]int32{}, map[uint64]int32{}, map[int32]jsonl.Line{}
			for l, err := range g.Source.Each(ctx) {
				if err != nil {
					yield(l, err)
					return
				}
				g.line(l)
			}
			g.tell()
		}
		for n := range g.told {
			if l, err := g.Record(ctx, n+1, 0, 0); !yield(l, err) || err != nil {
				return
			}
		}
	}
}

// line replays a line.
func (g *log) line(l jsonl.Line) {
	r := record{offset: l.Offset, size: int32(len(l.Bytes)), line: int32(l.Number), up: -1, was: -1, of: -1, place: -1}
	set := rawjson.Last(l.Object, "$set")
	switch to := rawjson.Last(l.Object, "$rewindTo"); {
	case l.Object == nil && l.Bad == "":
		g.account(&g.older.Converted)
	case l.Object == nil:
		r.is = unlinked
		g.bad[int32(len(g.records))] = jsonl.Line{Line: lines.Line{Long: l.Long}, Bad: l.Bad}
		g.records = append(g.records, r)
	case rawjson.IsText(to):
		if g.rewind(rawjson.Text(to)); isSetting(l.Object) {
			r.is = aside
			g.append(r)
		} else {
			g.account(&g.older.Converted)
		}
	case rawjson.IsText(rawjson.Last(l.Object, "id")):
		g.message(l.Object, r)
	case len(set) > 0 && set[0] == '{':
		if g.list(rawjson.At(l.Bytes, "$set", "messages"), l, r); isSetting(set) {
			r.is = aside
			g.append(r)
		} else {
			g.account(&g.older.Converted)
		}
	case isHead(l.Object) && len(g.records) > 0 && !isSetting(l.Object):
		g.list(rawjson.Last(l.Bytes, "messages"), l, r)
		g.account(&g.older.Superseded)
	case isHead(l.Object) && len(g.records) == 0:
		r.is = unlinked
		g.records = append(g.records, r)
		g.list(rawjson.Last(l.Bytes, "messages"), l, r)
	default:
		r.is = aside
		g.append(r)
	}
}

func (g *log) account(as *int64) { g.older.Read, *as = g.older.Read+1, *as+1 }

// append adds a record to the conversation.
func (g *log) append(r record) {
	r.place = int32(len(g.path))
	g.path = append(g.path, int32(len(g.records)))
	g.records = append(g.records, r)
}

// message replays a message: it replaces what has its id.
func (g *log) message(b []byte, r record) {
	i, id := int32(len(g.records)), g.hash(rawjson.TextAt(b, "id"))
	g.says(b, &r)
	old, known := g.at[id]
	if g.at[id] = i; known && g.lives(old) {
		r.place = g.records[old].place
		g.path[r.place] = i
		g.records = append(g.records, r)
	} else {
		g.append(r)
	}
	if !known {
		return
	}
	was := &g.records[old]
	if was.up, was.place = i, -1; was.is&answers == 0 && !g.repeated(was, b) {
		was.is |= left | differs
	} else {
		was.is |= gone
		g.records[i].was = old
	}
}

// repeated reports whether a message says all that an earlier state of it says.
func (g *log) repeated(was *record, now []byte) bool {
	l, err := g.Source.Record(g.ctx, int(was.line), was.offset, int(was.size))
	if err != nil {
		return false
	}
	said := values{}
	said.add(now)
	for name, v := range rawjson.Members(l.Object) {
		if string(name) != "timestamp" && !said.have(v) {
			return false
		}
	}
	return true
}

// values are the texts and numbers of values.
type values map[string]bool

func (s values) add(b []byte) {
	for v := range scalars(b) {
		s[string(v)] = true
	}
}

// have reports whether all texts and numbers of a value are among these.
func (s values) have(b []byte) bool {
	for v := range scalars(b) {
		if !s[string(v)] {
			return false
		}
	}
	return true
}

func scalars(b []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var t rawjson.Tokens
		for t.Reset(b); t.Next(); {
			if (t.Kind == rawjson.String || t.Kind == rawjson.Number) && !yield(b[t.From:t.To]) {
				return
			}
		}
	}
}

// list replays a list of all messages, which is part of a line.
func (g *log) list(list []byte, l jsonl.Line, r record) {
	if len(list) == 0 || list[0] != '[' {
		return
	}
	was, first, compacts := g.path, int32(len(g.records)), int32(-1)
	g.path = nil
	r.is |= inner
	for b := range rawjson.Elements(list) {
		if !rawjson.IsText(rawjson.Last(b, "id")) {
			continue
		}
		r.offset, r.size = l.Offset+int64(cap(l.Bytes)-cap(b)), int32(len(b))
		g.message(b, r)
		if i := len(g.records) - 1; g.records[i].is&summary != 0 {
			compacts = int32(i)
			g.records[i].up = first
		}
	}
	g.leave(was, -1, compacts >= 0)
}

// leave leaves what followed a record, but for settings: it was compacted, or is a branch.
func (g *log) leave(list []int32, up int32, compacted bool) {
	for _, i := range list {
		switch was := &g.records[i]; {
		case was.is&gone != 0:
		case was.is&aside != 0:
			was.place = int32(len(g.path))
			g.path = append(g.path, i)
			continue
		case was.is&left != 0:
			continue
		case compacted:
			g.archived = append(g.archived, i)
			was.place = -1
		default:
			was.is |= left
			was.up, was.place = up, -1
		}
		up = i
	}
}

// rewind leaves a message and all after it; all, if there is no such message.
func (g *log) rewind(id string) {
	from, up := 0, int32(-1)
	if i, ok := g.at[g.hash(id)]; ok && g.lives(i) {
		from = int(g.records[i].place)
	}
	if from > 0 {
		up = g.path[from-1]
	}
	rest := g.path[from:]
	g.path = g.path[:from:from]
	g.leave(rest, up, false)
}

// lives reports whether a message is part of the conversation so far.
func (g *log) lives(i int32) bool {
	place := int(g.records[i].place)
	return place >= 0 && place < len(g.path) && g.path[place] == i
}

func (g *log) hash(id string) uint64 { return maphash.String(g.seed, id) }

// says tells what a message is, and keeps which calls have their results with them.
func (g *log) says(b []byte, r *record) {
	content := rawjson.Last(b, "content")
	if strings.HasPrefix(words(content), snapshot) {
		r.is |= summary
	}
	for c := range rawjson.Elements(rawjson.Last(b, "toolCalls")) {
		if result := rawjson.Last(c, "result"); len(result) > 0 && string(result) != "null" {
			g.answered[g.hash(rawjson.TextAt(c, "id"))] = int32(len(g.records))
		}
	}
	all, said := false, values{}
	for p := range parts(content) {
		if answer := rawjson.Last(p, "functionResponse"); answer != nil {
			of := r.of
			if r.of, all = g.answered[g.hash(rawjson.TextAt(answer, "id"))]; !all {
				return
			}
			if l, err := g.Source.Record(g.ctx, 0, g.records[r.of].offset, int(g.records[r.of].size)); err == nil && r.of != of {
				said.add(l.Object)
			}
		}
		for text := range session.Strings(p) {
			if !said[string(session.AppendString(nil, text))] {
				return
			}
		}
	}
	if !all {
		return
	}
	for name, v := range rawjson.Members(b) {
		if word := string(name); word != "id" && word != "timestamp" && word != "type" && !said.have(v) {
			r.is |= more
			return
		}
	}
	r.is |= answers
}
