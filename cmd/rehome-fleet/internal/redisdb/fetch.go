package redisdb

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"rehome/cmd/rehome-fleet/internal/documents"
	"rehome/cmd/rehome-fleet/internal/home"
	"rehome/formats"
)

// errUnsteady says that parts of a store are of different moments.
var errUnsteady = errors.New("its keys do not agree")

// Fetch writes the store to path, as it is at one moment: it reads everything twice, until
// both are the same. Revisions and the order only ever grow, so that what is the same was so
// all the time between.
func (h *Home) Fetch(ctx context.Context, path string) error {
	c := h.client()
	defer c.Close()
	if err := ctx.Err(); err != nil {
		return h.fail(err)
	}
	there, err := h.layout(ctx, c)
	if err != nil {
		return h.fail(err)
	}
	if !there {
		return &formats.Error{At: h.name, Err: &home.Failure{Text: "no store of this name", Err: fs.ErrNotExist}, Hint: "name a store with ?store=NAME"}
	}
	for try := 0; ; try++ {
		files, err := documents.Create(path)
		if err != nil {
			return err
		}
		same, err := h.twice(ctx, c, files)
		if e := files.Close(err != nil || !same); err == nil {
			err = e
		}
		if err != nil && !errors.Is(err, errUnsteady) || same && err == nil {
			return h.fail(err)
		}
		if there, e := h.layout(ctx, c); e != nil || !there {
			return h.fail(errors.Join(e, err))
		}
		switch {
		case try < 4:
			time.Sleep(time.Duration(try) * 100 * time.Millisecond)
		case err != nil:
			return h.fail(err)
		default:
			return &formats.Error{At: h.name, Err: fmt.Errorf("%w: it changed while it was read", formats.ErrBusy), Hint: "stop the programs that write to it and try again"}
		}
	}
}

// twice writes the files, and reports whether reading again gives the same.
func (h *Home) twice(ctx context.Context, c *redis.Client, files *documents.Files) (bool, error) {
	first := reading{ctx: ctx, c: c, prefix: h.prefix + ":", sum: sha256.New()}
	if err := first.store(files); err != nil {
		return false, err
	}
	again := reading{ctx: ctx, c: c, prefix: h.prefix + ":", sum: sha256.New()}
	if err := again.store(nil); err != nil {
		return false, err
	}
	return string(first.sum.Sum(nil)) == string(again.sum.Sum(nil)), nil
}

// reading is one pass over a store.
type reading struct {
	ctx    context.Context
	c      *redis.Client
	prefix string
	sum    hash.Hash        // of all that was read
	digest documents.Digest // of the files
	count  int64            // of the documents

	putKept func(name string, part []byte) error // in place of files, if not nil
	stored  []byte                               // the digest of the files that were placed
}

func (r *reading) note(parts ...any) {
	for _, p := range parts {
		text, ok := p.(string)
		if !ok {
			text = fmt.Sprint(p)
		}
		fmt.Fprintf(r.sum, "%d ", len(text))
		_, _ = io.WriteString(r.sum, text)
	}
}

// store reads everything. It writes files unless they are nil.
func (r *reading) store(files *documents.Files) error {
	head, err := r.c.HMGet(r.ctx, r.prefix+"rehome", "manifest", "digest", "kept", "placed").Result()
	if err != nil {
		return err
	}
	r.note(head...)
	var manifest []byte
	if m, ok := head[0].(string); ok {
		manifest = []byte(m)
	}
	has, err := documents.ReadManifest(manifest)
	if err != nil {
		return err
	}
	for set := range documents.Sets {
		w, err := files.Set(set, has[set] || manifest == nil && set == documents.Agents, &r.digest)
		if err != nil {
			return err
		}
		err = r.set(set, documents.NewJoiner(set, w))
		if e := w.Close(); err == nil {
			err = e
		}
		if err != nil {
			return fmt.Errorf("%s: %w", set.Table(), err)
		}
	}
	digest, _ := head[1].(string)
	r.stored = []byte(digest)
	put := r.putKept
	if put == nil && files != nil {
		put = func(name string, part []byte) error {
			if name, _, _ := strings.Cut(name, "/"); name == "sidecar" && digest != string(r.digest.Sum()) {
				return nil // what clients changed, no sidecar describes
			}
			return files.Put(name, part)
		}
	}
	return r.kept(head[2], put)
}

// kept reads the parts of files that are no documents.
func (r *reading) kept(count any, put func(string, []byte) error) error {
	text, _ := count.(string)
	n, _ := strconv.ParseInt(text, 10, 64)
	for i := range n {
		part, err := r.c.HGet(r.ctx, r.prefix+"rehome", keptField(i)).Result()
		name, data, ok := strings.Cut(part, "\x00")
		if errors.Is(err, redis.Nil) || err == nil && !ok {
			return fmt.Errorf("%w: rehome lacks %s", errUnsteady, keptField(i))
		}
		if err != nil {
			return err
		}
		if r.note(part); put != nil {
			if err := put(name, []byte(data)); err != nil {
				return err
			}
		}
	}
	return nil
}

func keptField(i int64) string { return fmt.Sprintf("kept/%016d", i) }

const page = 256

// gather returns values until they are long enough, so that few of them are in memory.
const gather = `local out, size = {}, 0
for i, key in ipairs(KEYS) do
	local a, v = ARGV[i], nil
	local kind = a:sub(1, 1)
	a = a:sub(2)
	if kind == 'd' then v = redis.call('HMGET', key, 'doc', 'rev')
	elseif kind == 'h' then v = redis.call('HMGET', key, a)
	else v = redis.call('ZRANGEBYSCORE', key, a, a, 'LIMIT', 0, 2) end
	out[i] = v
	for _, s in ipairs(v) do if s then size = size + #s end end
	if size > 1048576 then break end
end
return out`

// want is an item whose value is still on the server.
type want struct {
	it       documents.Item
	key, arg string
	member   string
}

// next returns the next documents of a set, or its next lines that are none.
func (r *reading) next(zset string, from int64, make func(member string, ord int64) (want, bool, error)) ([]want, int64, error) {
	var out []want
	for len(out) == 0 {
		members, err := r.c.ZRangeWithScores(r.ctx, r.prefix+zset, from, from+page-1).Result()
		if err != nil || len(members) == 0 {
			return nil, from, err
		}
		from += int64(len(members))
		for _, m := range members {
			name, _ := m.Member.(string)
			w, ours, err := make(name, int64(m.Score))
			if err != nil {
				return nil, from, err
			}
			if ours {
				w.member = name
				out = append(out, w)
			}
		}
	}
	return out, from, nil
}

// set joins the documents of a set and the lines that are none, each in its own order.
func (r *reading) set(set documents.Set, j *documents.Joiner) error {
	zset := zsets()[set]
	var docs, raws, tails, due []want
	var docFrom, rawFrom int64
	docEnd, rawEnd := false, false
	for {
		var err error
		if len(docs) == 0 && !docEnd {
			docs, docFrom, err = r.next(zset, docFrom, func(m string, ord int64) (want, bool, error) { return r.document(set, m, ord) })
			docEnd = len(docs) == 0
		}
		if err == nil && len(raws) == 0 && !rawEnd {
			raws, rawFrom, err = r.next("rehome:order", rawFrom, func(m string, _ int64) (want, bool, error) { return r.line(set, m) })
			rawEnd = len(raws) == 0
		}
		if err != nil {
			return err
		}
		switch {
		case len(raws) > 0 && raws[0].it.Kind == documents.Tail:
			if tails = append(tails, raws[0]); len(tails) > page {
				return errors.New("too many torn lines")
			}
			raws = raws[1:]
			continue
		case len(raws) > 0 && (len(docs) == 0 || before(&raws[0].it, &docs[0].it)):
			due, raws = append(due, raws[0]), raws[1:]
		case len(docs) > 0:
			due, docs = append(due, docs[0]), docs[1:]
		default:
			if err := r.give(j, append(due, tails...)); err != nil {
				return err
			}
			return j.Close()
		}
		if len(due) == page {
			if err := r.give(j, due); err != nil {
				return err
			}
			due = due[:0]
		}
	}
}

func before(a, b *documents.Item) bool {
	return a.Ord < b.Ord || a.Ord == b.Ord && a.Kind < b.Kind
}

// document returns where the document of a name in a zset of the order is.
func (r *reading) document(set documents.Set, member string, ord int64) (want, bool, error) {
	w := want{it: documents.Item{Kind: documents.Document, Ord: ord}}
	first, second, ok := split(member)
	switch set {
	case documents.Agents:
		w.key, w.arg, ok = "agent:"+member, "d", true
	case documents.Runs:
		w.key, w.arg = "run:"+member, "d"
	case documents.Events:
		_, err := strconv.ParseInt(first, 10, 64)
		w.key, w.arg, ok = "events:"+second, "z"+first, ok && err == nil
	case documents.Checkpoints:
		w.key, w.arg = "blobs:"+first, "h"+second
		w.it.Row.Agent, w.it.Row.Blob = []byte(first), []byte(second)
	}
	if !ok {
		return w, false, fmt.Errorf("invalid name %q", member)
	}
	return w, true, nil
}

// line returns where the line of a name in rehome:order is, if it is one of the set.
func (r *reading) line(set documents.Set, member string) (want, bool, error) {
	part := strings.Split(member, "/")
	if len(part) != 5 || part[0] != "line" {
		return want{}, false, fmt.Errorf("invalid name %q", member)
	}
	if part[1] != set.Table() {
		return want{}, false, nil
	}
	ord, err := strconv.ParseInt(part[2], 10, 64)
	kind, err2 := strconv.ParseUint(part[3], 10, 8)
	n, err3 := strconv.Atoi(part[4])
	if errors.Join(err, err2, err3) != nil || kind > uint64(documents.Tail) || documents.Kind(kind) == documents.Document {
		return want{}, false, fmt.Errorf("invalid name %q", member)
	}
	return want{it: documents.Item{Kind: documents.Kind(kind), Ord: ord, Part: n}, key: "rehome", arg: "h" + member}, true, nil
}

// give reads the values of items and puts them to the Joiner.
func (r *reading) give(j *documents.Joiner, due []want) error {
	for len(due) > 0 {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		keys, args := make([]string, len(due)), make([]any, len(due))
		for i, w := range due {
			keys[i], args[i] = r.prefix+w.key, w.arg
		}
		values, err := r.c.Eval(r.ctx, gather, keys, args...).Slice()
		if err != nil {
			return err
		}
		if len(values) == 0 || len(values) > len(due) {
			return fmt.Errorf("%d values of %d", len(values), len(due))
		}
		for i, v := range values {
			if err := r.item(j, &due[i], v); err != nil {
				return err
			}
		}
		due = due[len(values):]
	}
	return nil
}

func (r *reading) item(j *documents.Joiner, w *want, value any) error {
	list, _ := value.([]any)
	text, ok := "", false
	if len(list) > 0 {
		text, ok = list[0].(string)
	}
	if !ok || w.arg[0] == 'z' && len(list) != 1 {
		return fmt.Errorf("%w: no single document for %q", errUnsteady, w.member)
	}
	r.note(w.it.Ord, w.it.Kind, w.member)
	r.note(list...)
	switch w.it.Kind {
	case documents.Document:
		r.count++
		if w.arg[0] == 'h' {
			w.it.Row.Data = []byte(text)
		} else {
			w.it.Row.Doc = []byte(text)
		}
	default:
		w.it.Raw = []byte(text)
	}
	return j.Put(&w.it)
}
