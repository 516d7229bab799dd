package cursorndjson

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"rehome/formats"
	"rehome/formats/internal/linecheck"
	"rehome/formats/internal/sdkcheck"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/rule"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// pointers are the members that findings point at. Of a run that failed some
// versions keep the time of its end and some do not.
func pointers() sdkcheck.Places {
	ends := map[string]string{}
	for status, column := range sdkdoc.RunEnds {
		if ends[status] = "/endedAt"; column < 0 {
			ends[status] = "?"
		}
	}
	return sdkcheck.Places{Status: "/status", Active: "/activeRunId",
		Checkpoint: "/latestCheckpoint/rootBlobId", Turn: "/turnNumber", Agent: "/agentId",
		Orphan: "RH328", Ends: ends, Offset: "/offset", Seq: "/seq", Key: "/idempotencyKey", Start: "/startCheckpointRef/rootBlobId",
		Latest: "/latestCheckpointRef/rootBlobId"}
}

// check asks about the four files.
func check(ctx context.Context, l *formats.Location, v formats.View, q *rule.Pass) (err error) {
	r, err := newReader(ctx, l, formats.View{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.root.Close()) }()
	c := &checker{reader: r, dir: l.Path, view: v}
	c.q = q.Owned(func(*rule.Finding) string { return c.session })
	c.catalog = sdkcheck.New(c.q, pointers())
	for k := range sdkdoc.Checkpoint {
		if err := c.files(ctx, k, c.document); err != nil {
			return err
		}
	}
	c.catalog.Finish()
	s := newBlobChecker(c)
	defer func() { err = errors.Join(err, s.places.Close()) }()
	if err := c.files(ctx, sdkdoc.Checkpoint, s.line); err != nil {
		return err
	}
	if err := s.finish(ctx); err != nil {
		return err
	}
	return c.transcripts()
}

// files asks about the files of one kind, part by part.
func (c *checker) files(ctx context.Context, k sdkdoc.Kind, take func(*linecheck.Line)) error {
	c.places = &concat{reader: c.reader, kind: k}
	for _, p := range c.parts {
		_, c.start, _ = c.places.enter() // why it cannot be read is a finding
		if err := c.places.Close(); err != nil {
			return c.fail(p.file(k), err)
		}
		if err := c.file(ctx, p, k, take); err != nil {
			return err
		}
	}
	return nil
}

// transcripts asks whose the readable copies are.
func (c *checker) transcripts() error {
	files, err := c.reader.transcripts()
	c.catalog.Transcripts(files)
	if err != nil {
		return c.fail(".", err)
	}
	return nil
}

// checker is one walk over a store.
type checker struct {
	*reader
	dir     string
	places  *concat // the files of this kind
	start   int64   // of this one among them
	view    formats.View
	q       *rule.Pass
	catalog *sdkcheck.Catalog
	kind    sdkdoc.Kind
	at      store.Addr
	session string // of the current line
	broken  bool   // a rule of the line's own is
	gap     bool   // a checkpoint could not be read
}

var schemaNames = [sdkdoc.Kinds]string{"cursor-ndjson-agent-1", "cursor-ndjson-run-1", "cursor-ndjson-event-1", "cursor-ndjson-checkpoint-1"}

// file asks about the lines of one file; take enters one.
func (c *checker) file(ctx context.Context, p *part, k sdkdoc.Kind, take func(*linecheck.Line)) error {
	path := filepath.Join(c.dir, p.name, k.File())
	if _, err := os.Lstat(path); err != nil {
		return nil // each file is made with its first line
	}
	var v rule.Validator
	if c.q.Schema != nil {
		v = c.q.Schema(schemaNames[k])
	}
	o := linecheck.Options{Format: name, Most: sdkdoc.MaxLine, Odd: func(int) { c.missed(k) }}
	for line, err := range linecheck.Lines(ctx, path, p.file(k), c.view, c.q, o) {
		if err != nil {
			return err
		}
		c.kind, c.at, c.broken = k, store.Addr{File: p.file(k), Line: line.Number}, false
		if c.session = rawjson.Text(line.Member("agentId")); k == sdkdoc.Event {
			c.session = c.catalog.AgentOf([]byte(rawjson.Text(line.Member("runId"))))
		}
		take(&line)
		for name := range line.Members() {
			if c.q.Enabled(rule.Schema) && !k.Writes(name) && (k != sdkdoc.Agent || !sdkdoc.IsSummary(name)) {
				c.q.Report(rule.Finding{Rule: "RH201", At: c.at, Message: "member %q", Args: []any{rule.Clip(string(name))}})
			}
		}
		if !c.broken {
			line.Matches(c.q, v, c.at)
		}
		c.session = ""
	}
	return nil
}

// missed notes a line that cannot be read: what it would have said is not
// missing.
func (c *checker) missed(k sdkdoc.Kind) {
	switch g := &c.catalog.Gaps; k {
	case sdkdoc.Agent:
		g.Agents = true
	case sdkdoc.Run:
		g.Runs = true
	case sdkdoc.Event:
		g.Events = true
	default:
		c.gap = true
	}
}

func (c *checker) breach(id, pointer, says string, args ...any) {
	c.broken = true
	c.q.Report(rule.Finding{Rule: id, At: c.at, Pointer: pointer, Message: says, Args: args})
}

// root is the blob that a member refers to.
func root(l *linecheck.Line, name string) string {
	return rawjson.TextAt(l.Member(name), "rootBlobId")
}

// document asks about a line of one of the first three files.
func (c *checker) document(l *linecheck.Line) {
	if c.q.Enabled(rule.Meaning) {
		c.meaning(l)
	}
	switch c.kind {
	case sdkdoc.Agent:
		if l.Member("agentId") != nil {
			c.catalog.PutAgent(sdkcheck.Agent{ID: rawjson.Text(l.Member("agentId")), Workspace: rawjson.Text(l.Member("cwd")), Active: rawjson.Text(l.Member("activeRunId")), Root: root(l, "latestCheckpoint"), At: c.at})
		}
	case sdkdoc.Run:
		turn, ok := sdkdoc.Whole(l.Member("turnNumber"))
		if !ok || l.Member("runId") == nil {
			return // which the schema says
		}
		r := sdkcheck.Run{ID: rawjson.Text(l.Member("runId")), Agent: rawjson.Text(l.Member("agentId")), Turn: turn, Start: root(l, "startCheckpointRef"), Latest: root(l, "latestCheckpointRef"), At: c.at}
		if s := rawjson.Text(l.Member("status")); sdkdoc.Run.KnowsWord(s) {
			r.Status = s
		}
		if e := l.Member("endedAt"); e != nil && string(e) != "null" {
			r.Ends = []string{"/endedAt"}
		}
		c.catalog.PutRun(r)
	case sdkdoc.Event:
		seq, ok := sdkdoc.Whole(l.Member("seq"))
		if !ok || l.Member("runId") == nil {
			return
		}
		e := sdkcheck.Event{Run: []byte(rawjson.Text(l.Member("runId"))), Seq: seq, Offset: []byte(rawjson.Text(l.Member("offset"))), At: c.at}
		if raw := l.Member("offset"); rawjson.IsText(raw) {
			e.HasOffset = true
		}
		if key := l.Member("idempotencyKey"); rawjson.IsText(key) {
			e.Key = []byte(rawjson.Text(l.Member("idempotencyKey")))
		}
		c.catalog.PutEvent(e)
	}
}

// meaning asks what the SDK makes of a line.
func (c *checker) meaning(l *linecheck.Line) {
	if c.kind == sdkdoc.Event {
		if p := l.Member("payload"); rawjson.Text(l.Member("eventType")) == sdkdoc.StreamEvent && p != nil && string(p) != "null" && !sdkdoc.Streams(p) {
			c.breach("RH411", "/payload", "")
		}
		if at := l.Member("createdAt"); len(at) > 0 && (at[0] == '"' && !sdkdoc.IsTime([]byte(rawjson.Text(at))) || rawjson.IsNumber(at) && !sdkdoc.IsMillis(at)) {
			c.breach("RH409", "/createdAt", "")
		}
		return
	}
	if s := l.Member("status"); rawjson.IsText(s) && !c.kind.KnowsWord(rawjson.Text(s)) {
		c.breach("RH408", "/status", "%q", rule.Clip(rawjson.Text(s)))
	}
	for _, name := range []string{"createdAt", "updatedAt", "startedAt", "endedAt"} {
		if at := l.Member(name); rawjson.IsNumber(at) && !sdkdoc.IsMillis(at) {
			c.breach("RH409", "/"+name, "")
		}
	}
}
