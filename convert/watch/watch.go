package watch

import (
	"context"
	"errors"
	"hash/maphash"
	"time"

	"rehome/convert"
	"rehome/formats"
	"rehome/formats/session"
	"rehome/internal/fileid"
	"rehome/internal/fsevents"
)

// Options are the options of Run.
type Options struct {
	Registry *formats.Registry
	Source   string // a store or folder of stores; it may appear later, vanish and come back
	Target   string
	Convert  convert.Options // Update is set
	Interval time.Duration   // between two looks at files without reliable events; 0 = DefaultInterval
	Once     bool            // one round
	OnEvent  func(Event)     // called for each event, never twice at once
}

// DefaultInterval is how often Run looks at files without reliable events. Where there
// are events it looks every safetyFactor intervals, in case some were lost.
const DefaultInterval = 5 * time.Second

const (
	safetyFactor = 12
	quiet        = time.Second      // without an event: a turn makes many writes
	maxWait      = 10 * time.Second // for quiet
	maxDelay     = time.Minute      // before a failed round is repeated
	busyRounds   = 3                // that fail before a store in use is reported

	// How much longer than a look or a round the pause after it is, so that neither
	// takes more than a small part of the time.
	lookPause, roundPause = 20, 3

	maxLooks = 3 // at folders that have just appeared
)

// Run updates the target whenever the source has changed, until the context ends, which
// is no error. A round that fails is an event; Run returns an error if options are
// invalid, or with Once the error of the round.
func Run(ctx context.Context, o Options) error {
	w := newWatcher(o)
	if o.Once {
		return w.once(ctx)
	}
	events, err := fsevents.New()
	if err != nil {
		w.emit(Event{Kind: Polling, Message: err.Error()})
		return w.run(ctx, noEvents{})
	}
	defer events.Close()
	return w.run(ctx, events)
}

func newWatcher(o Options) *watcher {
	o.Convert.Update = true
	if o.Interval <= 0 {
		o.Interval = DefaultInterval
	}
	w := &watcher{Options: o, looker: looker{seed: maphash.MakeSeed(), path: o.Source}, quiet: quiet}
	w.update = func(ctx context.Context) (*convert.Report, error) {
		return convert.Convert(ctx, o.Registry, o.Source, o.Target, o.Convert)
	}
	w.list = w.listHeads
	return w
}

// source is where events come from.
type source interface {
	Changed() <-chan struct{}
	Watch([]fsevents.Folder) fsevents.Coverage
}

// noEvents is the source of a system without events.
type noEvents struct{}

func (noEvents) Changed() <-chan struct{} { return nil }
func (noEvents) Watch(f []fsevents.Folder) fsevents.Coverage {
	return fsevents.Coverage{Missing: len(f)}
}

// watcher is one call of Run.
type watcher struct {
	Options
	looker
	update func(context.Context) (*convert.Report, error)
	list   func(ctx context.Context, stores []string) []session.Head
	events source
	quiet  time.Duration

	coverage fsevents.Coverage
	took     time.Duration // the last look
	done     look          // what was seen before the last round that did all it could
	started  bool          // there was such a round

	failures int       // rounds that failed since then
	next     time.Time // when a round may begin

	// What has been reported.
	problems problems
	ready    bool
	known    map[string]session.Head // by client and id
	kept     map[string]bool         // stores that have vanished
}

// emit passes on an event.
func (w *watcher) emit(e Event) {
	if e.Time = time.Now(); w.OnEvent != nil {
		w.OnEvent(e)
	}
}

// run is Run with a source of events.
func (w *watcher) run(ctx context.Context, events source) error {
	w.events = events
	for ctx.Err() == nil {
		now := w.lookAround(ctx)
		if ctx.Err() != nil {
			return nil
		}
		switch {
		case !now.exists:
			w.missing()
		case !w.started || w.failures > 0 || now.print != w.done.print:
			if err := w.round(ctx, now); err != nil {
				return err
			}
		}
		w.wait(ctx)
	}
	return nil
}

// lookAround looks at the source, and has its folders watched. It looks again if
// folders are watched that were not: what changed before has made no event.
func (w *watcher) lookAround(ctx context.Context) (now look) {
	for range maxLooks {
		start := time.Now()
		now = w.look(ctx)
		w.took = time.Since(start)
		if ctx.Err() != nil {
			return now
		}
		before := w.coverage.Err
		w.coverage = w.events.Watch(now.folders)
		if err := w.coverage.Err; err != nil && (before == nil || err.Error() != before.Error()) {
			w.emit(Event{Kind: Polling, Message: err.Error()})
		}
		if !w.coverage.Added {
			break
		}
	}
	return now
}

// round updates the target once. Its error is that of invalid options.
func (w *watcher) round(ctx context.Context, now look) error {
	start := time.Now()
	report, err := w.update(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil // what was not finished is undone
	case errors.As(err, new(convert.Misuse)):
		return err
	}
	found, took := problemsOf(report, err), time.Since(start)
	if found.repeat() {
		delay := max(min(time.Second<<min(w.failures, 10), maxDelay), lookPause*took)
		w.failures++
		w.next = time.Now().Add(delay)
		w.reportProblems(found, delay)
	} else {
		w.done, w.started, w.failures = now, true, 0
		w.next = time.Now().Add(roundPause * took)
		w.reportProblems(found, 0)
	}
	if err == nil {
		w.reportChanges(context.WithoutCancel(ctx), report) // it is done: say so
	}
	return nil
}

// missing waits for a source that is not there. The target stays as it is.
func (w *watcher) missing() {
	w.done, w.failures = look{}, 0
	w.reportProblems(problems{"": &formats.Error{At: w.Source, Err: errNotFound, Hint: "the target stays as it is; watching goes on when the source is there"}}, 0)
}

// once is Run for a single round.
func (w *watcher) once(ctx context.Context) error {
	report, err := w.update(ctx)
	if errors.As(err, new(convert.Misuse)) || ctx.Err() != nil {
		return err
	}
	found := problemsOf(report, err)
	w.failures = busyRounds
	w.reportProblems(found, 0)
	if err == nil {
		w.reportChanges(ctx, report)
	}
	return found.joined()
}

// wait returns when it is time to look: after an event, after an interval, or when a
// failed round may be repeated.
func (w *watcher) wait(ctx context.Context) {
	if w.failures > 0 {
		sleep(ctx, time.Until(w.next))
		return
	}
	pause := w.Interval
	if w.coverage.Missing == 0 {
		pause *= safetyFactor
	}
	if pause = max(pause, lookPause*w.took); w.done.young {
		pause = min(pause, fileid.Resolution)
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-w.events.Changed():
		sleep(ctx, time.Until(w.next))
		w.settle(ctx)
	}
}

// settle waits until there was no event for a moment, but not longer than maxWait. It
// does not wake up for each event.
func (w *watcher) settle(ctx context.Context) {
	for end := time.Now().Add(maxWait); ctx.Err() == nil && time.Now().Before(end); {
		sleep(ctx, w.quiet)
		select {
		case <-w.events.Changed():
		default:
			return
		}
	}
}

// sleep waits, but not longer than the context.
func sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
