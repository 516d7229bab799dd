package redisdb

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"rehome/cmd/rehome-fleet/internal/documents"
	"rehome/cmd/rehome-fleet/internal/home"
	"rehome/formats"
)

// lease is how long the lock lives after its holder was last heard of.
const lease = 10 * time.Second

// Place makes the files at path the store: under other names, which are read again and then
// renamed at once.
func (h *Home) Place(ctx context.Context, path string, o home.PlaceOptions) (home.Placed, error) {
	src, err := documents.Open(path)
	if err != nil {
		return home.Placed{}, err
	}
	defer src.Close()
	if h.backup {
		return home.Placed{}, &formats.Error{At: h.name, Err: errors.New("backups are only read"), Hint: "name another store"}
	}
	token := make([]byte, 8)
	if _, err := rand.Read(token); err != nil {
		return home.Placed{}, err
	}
	c := h.client()
	defer c.Close()
	p := &placing{home: h, c: c, src: src, o: o, count: src.Counter(o.Progress), token: fmt.Sprintf("%x", token), streams: map[string]int64{}, names: map[string]struct{}{}}
	p.stage = h.prefix + "~stage-" + p.token + ":"
	if err := p.place(ctx); err != nil {
		return home.Placed{}, h.fail(err)
	}
	return p.placed, nil
}

// placing is a Place at work.
type placing struct {
	home         *Home
	c            *redis.Client
	src          *documents.Store
	o            home.PlaceOptions
	token, stage string
	backup       int // the number of the backup

	placed home.Placed
	count  *documents.Counter
	digest documents.Digest
	last   int64 // of the numbers of lines
	kept   int64

	// The batch:
	commands [][]any
	names    map[string]struct{} // of its keys
	streams  map[string]int64
	size     int
}

func (p *placing) place(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := p.home.durable(ctx, p.c); err != nil {
		return err
	}
	there, err := p.home.layout(ctx, p.c)
	if err != nil {
		return err
	}
	if there && !p.o.Replace {
		return p.exists()
	}
	if err := p.lock(ctx); err != nil {
		return err
	}
	err = p.load(ctx)
	if err == nil {
		err = p.verify(ctx)
	}
	if err == nil {
		err = p.commit(ctx)
	}
	if err != nil {
		p.abandon(ctx)
	}
	return err
}

func (p *placing) load(ctx context.Context) error {
	for set := range documents.Sets {
		if err := p.set(ctx, set); err != nil {
			return err
		}
	}
	err := p.src.Kept(func(name string, part []byte) error {
		p.count.Add(len(part))
		p.kept++
		return p.do(ctx, "rehome", "HSET", keptField(p.kept-1), name+"\x00"+string(part))
	})
	if err != nil {
		return err
	}
	if err := p.do(ctx, "rehome", "HSET", "manifest", string(p.src.Manifest()), "digest", string(p.digest.Sum()), "kept", p.kept, "placed", p.token); err != nil {
		return err
	}
	if err := p.do(ctx, "meta", "HSET", "layout", 1, "ord", p.last); err != nil {
		return err
	}
	return p.flush(ctx)
}

// set stages a set.
func (p *placing) set(ctx context.Context, set documents.Set) error {
	if !p.src.Has[set] {
		return nil
	}
	f, err := p.src.Open(set.File())
	if err != nil {
		return err
	}
	defer f.Close()
	lines, err := documents.Split(set, io.TeeReader(p.count.Reader(f), p.digest.Set(set)), func(it *documents.Item) error {
		if it.Kind != documents.Document {
			name := documents.LineName(set, it)
			return errors.Join(p.do(ctx, "rehome:order", "ZADD", it.Ord, name), p.do(ctx, "rehome", "HSET", name, string(it.Raw)))
		}
		p.placed.Documents++
		p.placed.Hidden--
		return p.document(ctx, set, it)
	})
	if p.placed.Hidden += lines; err != nil {
		return fmt.Errorf("%s: %w", set.File(), err)
	}
	// New documents come after all lines, also after raw ones.
	p.last = max(p.last, lines)
	return nil
}

func (p *placing) document(ctx context.Context, set documents.Set, it *documents.Item) error {
	r := &it.Row
	score := "0"
	if r.HasNumber {
		score = strconv.FormatFloat(r.Number, 'g', -1, 64)
	}
	agent, member := string(r.Agent), ""
	var err error
	switch set {
	case documents.Agents:
		member = agent
		err = errors.Join(p.do(ctx, "agents", "ZADD", score, agent), p.do(ctx, "agent:"+agent, "HSET", "doc", string(r.Doc), "rev", 1))
	case documents.Runs:
		member = pair(r.Agent, r.Run)
		err = errors.Join(p.do(ctx, "runs:"+agent, "ZADD", score, string(r.Run)), p.do(ctx, "run:"+member, "HSET", "doc", string(r.Doc), "rev", 1),
			p.do(ctx, "runagents", "HSETNX", string(r.Run), agent))
	case documents.Events:
		run := string(r.Run)
		member = fmt.Sprint(r.Seq, ":", run)
		p.streams[run] = max(p.streams[run], r.Seq)
		err = p.do(ctx, "events:"+run, "ZADD", r.Seq, string(r.Doc))
		if r.Idem != nil && err == nil {
			err = p.do(ctx, "idem:"+run, "HSET", string(r.Idem), r.Seq)
		}
	case documents.Checkpoints:
		blob := string(r.Blob)
		member = pair(r.Agent, r.Blob)
		err = errors.Join(p.do(ctx, "blobids:"+agent, "ZADD", 0, blob), p.do(ctx, "blobs:"+agent, "HSET", blob, string(r.Data)))
	}
	return errors.Join(err, p.do(ctx, zsets()[set], "ZADD", it.Ord, member))
}

// do adds a command to the batch.
func (p *placing) do(ctx context.Context, key, command string, args ...any) error {
	p.names[key] = struct{}{}
	p.commands = append(p.commands, append([]any{command, p.stage + key}, args...))
	for _, a := range args {
		if s, ok := a.(string); ok {
			p.size += len(s)
		}
	}
	if p.size > 1<<20 || len(p.commands) >= 2000 {
		return p.flush(ctx)
	}
	return nil
}

// raise sets fields of a hash to numbers unless they are higher already.
const raise = `for i = 1, #ARGV, 2 do
	local was = redis.call('HGET', KEYS[1], ARGV[i])
	if not was or tonumber(was) < tonumber(ARGV[i + 1]) then redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
end
return 1`

// flush sends the batch. Whatever ends this process, the server knows what it was given: the
// names come first, in the same transaction.
func (p *placing) flush(ctx context.Context) error {
	if err := errors.Join(ctx.Err(), p.renew(ctx)); err != nil {
		return err
	}
	var streams []any
	for run, seq := range p.streams {
		streams = append(streams, run, seq)
		p.names["streams"] = struct{}{}
	}
	names := make([]any, 0, len(p.names))
	for n := range p.names {
		names = append(names, n)
	}
	sent, err := p.c.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.HSet(ctx, p.stages(), p.token, time.Now().UTC().Format(time.RFC3339))
		pipe.SAdd(ctx, p.stage+"keys", names...)
		if len(streams) > 0 {
			pipe.Eval(ctx, raise, []string{p.stage + "streams"}, streams...)
		}
		for _, c := range p.commands {
			pipe.Do(ctx, c...)
		}
		return nil
	})
	for _, c := range sent { // one of them says why all were discarded
		if e := c.Err(); redis.HasErrorPrefix(err, "EXECABORT") && e != nil {
			err = e
		}
	}
	clear(p.commands) // frees the texts
	p.commands, p.size = p.commands[:0], 0
	clear(p.names)
	clear(p.streams)
	return err
}

// verify reads everything again and compares it with the files.
func (p *placing) verify(ctx context.Context) error {
	stop := make(chan struct{})
	defer close(stop)
	go func() { // it may take longer than the lock lives
		for {
			select {
			case <-stop:
				return
			case <-time.After(lease / 4):
				_ = p.renew(ctx)
			}
		}
	}()
	want, got := sha256.New(), sha256.New()
	put := func(w io.Writer) func(string, []byte) error {
		return func(name string, part []byte) error {
			_, err := fmt.Fprintf(w, "%q %d %s", name, len(part), part)
			return err
		}
	}
	again := reading{ctx: ctx, c: p.c, prefix: p.stage, sum: sha256.New(), putKept: put(got)}
	if err := again.store(nil); err != nil {
		return err
	}
	if s := string(p.digest.Sum()); s != string(again.digest.Sum()) || s != string(again.stored) || again.count != p.placed.Documents {
		return errors.New("what was read again differs from the files, and was not placed")
	}
	if err := p.src.Kept(put(want)); err != nil {
		return err
	}
	if string(want.Sum(nil)) != string(got.Sum(nil)) {
		return errors.New("the files beside the documents changed while they were read, and nothing was placed")
	}
	return nil
}
