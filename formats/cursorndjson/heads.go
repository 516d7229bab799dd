package cursorndjson

import (
	"bufio"
	"context"
	"errors"
	"iter"

	"rehome/formats"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/lines"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// headLine is the longest line that is read for the sake of a list.
const headLine = 16 << 20

// heads lists the agents in the order of their lines. Their turns are the runs
// that ever began; what was said in them is not looked at.
func heads(ctx context.Context, l *formats.Location, v formats.View) iter.Seq2[*session.Head, error] {
	return func(yield func(*session.Head, error) bool) {
		r, err := newReader(ctx, l, v)
		if err != nil {
			yield(nil, err)
			return
		}
		defer r.root.Close()
		turns, whole := map[string]int64{}, true
		for line, err := range r.headLines(ctx, sdkdoc.Run) {
			if err != nil && !errors.Is(err, bufio.ErrTooLong) {
				whole = false // the agents are still worth listing
				break
			}
			whole = whole && err == nil
			if id := rawjson.TextAt(line, "agentId"); rawjson.TextAt(line, "status") != sdkdoc.Queued {
				turns[id]++
			}
		}
		for line, err := range r.headLines(ctx, sdkdoc.Agent) {
			if err != nil {
				if !yield(nil, err) {
					return
				}
				continue
			}
			b, _, err := rawjson.Line(line)
			a := sdkdoc.ReadAgent(b)
			if err != nil || a == nil {
				continue // no session is made of it either
			}
			if a.Bytes, a.Head.Turns = -1, turns[a.ID]; !whole {
				a.Head.Turns = -1
			}
			if a.ID != "" && !yield(&a.Head, nil) {
				return
			}
		}
	}
}

// headLines yields the objects of a file; each is valid until the next one. A line
// that is not an object is yielded as an error, unless it is the last one, which a
// crash can cut short. A missing file has no lines.
func (r *reader) headLines(ctx context.Context, k sdkdoc.Kind) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, p := range r.parts {
			for line, err := range r.partLines(ctx, p, k) {
				if !yield(line, err) {
					return
				}
			}
		}
	}
}

// partLines is headLines of one part.
func (r *reader) partLines(ctx context.Context, p *part, k sdkdoc.Kind) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		fail := func(line int, err error) bool {
			return yield(nil, r.fail(inPart(p, store.Addr{File: k.File(), Line: line}).String(), err))
		}
		f, err := r.file(p.file(k))
		if f == nil {
			if err != nil {
				fail(0, err)
			}
			return
		}
		defer f.Close()
		last := 0
		for l, err := range lines.Each(ctx, f, headLine) {
			line, more := jsonl.Parse(l), true
			switch {
			case err != nil:
				fail(last+1, err)
				return
			case l.Long:
				more = fail(l.Number, bufio.ErrTooLong)
			case line.Object != nil:
				more = yield(line.Object, nil)
			case line.Bad == loss.LineNotObject && l.Ended:
				more = fail(l.Number, errors.New("not a JSON object"))
			}
			if last = l.Number; !more {
				return
			}
		}
	}
}
