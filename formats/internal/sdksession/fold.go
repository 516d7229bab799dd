package sdksession

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"
	"strconv"

	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/toolmap"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// sort is what an item becomes.
type sort uint8

const (
	textItem sort = iota
	thoughtItem
	callItem
	userItem
	summaryItem
	rawItem  // an event that nobody has described
	oddsItem // members of an event that nobody has described
)

// item outlines what several events tell together: a text of many deltas, a
// call and what came of it.
type item struct {
	sort        sort
	done        bool    // said already, by another source too
	answered    bool    // of a call: the graph has its result
	over        bool    // of a call: it ended
	wrong       bool    // of a call: it ended badly
	cutArgs     bool    // of a call: its arguments are shortened
	cutResult   bool    // its result is
	first, last int32   // of its events
	skip        int32   // of a text: bytes of the first event that another source told
	args, end   int32   // of a call: the events that hold its arguments and result, -1
	early       []int32 // of a call: the events that hold other arguments
	millis      int64
	sum
	call     string
	name     string
	at, till session.Stamp
}

// turnEvents are the events of a run, folded.
type turnEvents struct {
	run   *run
	doc   *sdkdoc.RunDoc
	items []item
	calls map[string]int // item by call
	args  map[string]argsTold
	tally session.Account

	text, thought int // the item that deltas go to, -1
	request       string
	state         string
	problem       string
	usage         *session.Usage
	retries       int // how often the client began anew
}

// fold reads the events of a run and outlines what they tell. doc may be nil.
func (s *Store) fold(ctx context.Context, r *run, doc *sdkdoc.RunDoc, note loss.Sink) (*turnEvents, error) {
	t := &turnEvents{run: r, doc: doc, calls: map[string]int{}, args: map[string]argsTold{}, text: -1, thought: -1}
	for i, e := range r.events {
		ev, err := s.event(ctx, e)
		if err != nil {
			return nil, err
		}
		t.tally.Read++
		if ev == nil {
			t.tally.Unreadable++
			note(loss.Loss{Code: loss.EventUnreadable, At: s.Lines.At(eventKind, e.Place)})
			continue
		}
		t.take(ev, int32(i))
	}
	return t, s.tries(ctx, t)
}

// take takes one event in.
func (t *turnEvents) take(e *event, i int32) {
	if t.fits(e) {
		switch e.what {
		case assistantText:
			t.thought = -1
			t.delta(&t.text, textItem, e, i)
		case thinking:
			t.thoughts(e, i)
		case toolCall:
			t.step(e, i)
		case userText:
			t.open(userItem, e, i).sum = sumOf(e.text)
		case task:
			t.open(summaryItem, e, i).sum = sumOf(e.text)
		}
	}
	if e.what == strange {
		t.tally.CarriedRaw++
		t.open(rawItem, e, i)
		return
	}
	t.tally.Converted++
	t.tally.Add(e.Account)
	if len(e.Extras) > 0 {
		it := t.new(oddsItem, e, i)
		t.items = append(t.items, it)
	}
}

// fits compares what an event says of the run with the run's record. What says
// something else is carried as it is.
func (t *turnEvents) fits(e *event) bool {
	switch e.what {
	case request:
		known := t.request
		if t.doc != nil && t.doc.Turn.RequestID != "" {
			known = t.doc.Turn.RequestID
		}
		if known != "" && known != e.text {
			e.what = strange
		}
		t.request = e.text
	case status:
		t.state = e.state
		if e.problem == "" || t.doc != nil && t.doc.Turn.Error == e.problem || t.problem == e.problem {
			break
		}
		if t.doc != nil && t.doc.Turn.Error != "" || t.problem != "" || len(e.problem) > 64<<10 {
			e.what = strange
			break
		}
		t.problem = e.problem
	case usage:
		known := t.usage
		if t.doc != nil && t.doc.Turn.Usage != nil {
			known = t.doc.Turn.Usage
		}
		if known != nil && *known != *e.usage {
			e.what = strange
		}
		t.usage = e.usage
	}
	return e.what != strange
}

func (t *turnEvents) new(s sort, e *event, i int32) item {
	return item{sort: s, first: i, last: i, args: -1, end: -1, at: e.At, till: e.At}
}

// open begins an item; texts that are being told end there.
func (t *turnEvents) open(s sort, e *event, i int32) *item {
	t.text, t.thought = -1, -1
	t.items = append(t.items, t.new(s, e, i))
	return &t.items[len(t.items)-1]
}

// delta adds to the text that is being told, or begins one.
func (t *turnEvents) delta(at *int, s sort, e *event, i int32) *item {
	if *at < 0 {
		t.open(s, e, i)
		*at = len(t.items) - 1
	}
	it := &t.items[*at]
	it.last, it.till = i, e.At
	it.sum = it.add(e.text)
	return it
}

// thoughts adds to the model's reasoning. Its last event has no text but says
// how long it took.
func (t *turnEvents) thoughts(e *event, i int32) {
	if e.text == "" && e.millis == 0 && t.thought < 0 {
		return
	}
	if e.text != "" {
		t.text = -1
	}
	it := t.delta(&t.thought, thoughtItem, e, i)
	if e.millis != 0 {
		it.millis = e.millis
		t.thought = -1
	}
}

// step folds one step of a call into the call: the last status, the last
// arguments that are some, the result.
func (t *turnEvents) step(e *event, i int32) {
	at, known := t.calls[e.call]
	if !known {
		t.open(callItem, e, i)
		at = len(t.items) - 1
		t.calls[e.call] = at
		t.items[at].call = e.call
		t.items[at].sum = sum{}
	}
	it := &t.items[at]
	it.last = i
	if e.name != "" {
		it.name = e.name
	}
	if e.args != nil && !e.cutArgs {
		t.compare(it, e, i)
	}
	if e.args != nil && (it.args < 0 || it.cutArgs || !e.cutArgs) {
		it.args, it.cutArgs = i, e.cutArgs
	}
	if e.result != nil {
		it.end, it.cutResult = i, e.cutResult
	}
	if word, failed := toolmap.Outcome(e.state); failed || word == "success" {
		it.over, it.wrong, it.till = true, failed, e.At
		if it.end < 0 {
			it.end = i
		}
	}
}

// argsTold are the arguments that an event had of a call.
type argsTold struct {
	event  int32
	text   []byte // until the call ends
	digest [sha256.Size]byte
}

// compare looks whether the arguments of a call are those that the event before told of it, or
// more of them: the client tells them while the model writes.
func (t *turnEvents) compare(it *item, e *event, i int32) {
	digest := sha256.Sum256(e.args)
	old, known := t.args[e.call]
	if known && old.digest != digest && !grows(e.args, old.text) {
		it.early = append(it.early, old.event)
	}
	old.event, old.digest = i, digest
	if word, failed := toolmap.Outcome(e.state); failed || word == "success" {
		old.text = nil
	} else {
		old.text = append(old.text[:0], e.args...)
	}
	t.args[e.call] = old
}

// id names a message by the event it begins with.
func (t *turnEvents) id(i int32) string {
	list := t.run.events
	first, _ := slices.BinarySearchFunc(list, list[i].seq, func(e entry, seq int64) int { return cmp.Compare(e.seq, seq) })
	tie := int(i) - first + 1 // databases have each number once, lines can have it twice
	b := strconv.AppendInt([]byte("run-"), int64(t.run.ordinal), 10)
	b = strconv.AppendInt(append(b, '.'), list[i].seq, 10)
	if tie > 1 {
		b = strconv.AppendInt(append(b, '-'), int64(tie), 10)
	}
	return string(b)
}
