package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"rehome/convert"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/session"
	"rehome/internal/fileid"
	"rehome/internal/fsevents"
	"rehome/testdata/chat"
)

// loop is a run with events, updates and a clock of the test.
type loop struct {
	*watcher
	t        *testing.T
	src      string
	changes  chan struct{}
	coverage fsevents.Coverage // what the source of events returns

	looks   int         // number of times that folders were handed to the source of events
	rounds  []time.Time // of calls of update
	results []error     // of the next rounds; after them, none
	report  func() *convert.Report
	sizes   []int64 // of the source, in each round
	events  []Event
}

func (l *loop) Changed() <-chan struct{} { return l.changes }

func (l *loop) Watch([]fsevents.Folder) fsevents.Coverage {
	l.looks++
	return l.coverage
}

// start runs the loop in the bubble of the test, on a source that is a file.
func start(t *testing.T) *loop {
	l := &loop{t: t, src: filepath.Join(t.TempDir(), "store.db"), changes: make(chan struct{}, 1)}
	was := ""
	l.report = func() *convert.Report {
		now, _ := os.ReadFile(l.src)
		change := convert.Updated
		if string(now) == was {
			change = convert.Unchanged
		}
		was = string(now)
		return &convert.Report{Stores: []convert.StoreReport{{Path: ".", Status: convert.Placed, Change: change}}}
	}
	l.watcher = newWatcher(Options{Source: l.src, Target: "text", OnEvent: func(e Event) { l.events = append(l.events, e) }})
	l.watcher.list = func(context.Context, []string) []session.Head { return nil }
	l.watcher.update = func(context.Context) (*convert.Report, error) {
		l.rounds = append(l.rounds, time.Now())
		if info, err := os.Stat(l.src); err == nil {
			l.sizes = append(l.sizes, info.Size())
		}
		if len(l.results) == 0 {
			return l.report(), nil
		}
		err := l.results[0]
		l.results = l.results[1:]
		if err != nil {
			return &convert.Report{}, err
		}
		return l.report(), nil
	}
	return l
}

// run starts the loop, and returns when it waits.
func (l *loop) run() {
	ctx, cancel := context.WithCancel(l.t.Context())
	done := make(chan error)
	go func() { done <- l.watcher.run(ctx, l) }()
	l.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			l.t.Errorf("the loop ended with %v", err)
		}
	})
	synctest.Wait()
}

// write changes the source without an event, as of the time of the bubble.
func (l *loop) write(text string) {
	l.t.Helper()
	if err := os.WriteFile(l.src, []byte(text), 0o666); err != nil {
		l.t.Fatal(err)
	}
	os.Chtimes(l.src, time.Now(), time.Now())
}

func (l *loop) event() {
	select {
	case l.changes <- struct{}{}:
	default:
	}
}

// after lets the time of the bubble pass.
func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (l *loop) want(rounds int, kinds ...Kind) {
	l.t.Helper()
	var got []Kind
	for _, e := range l.events {
		got = append(got, e.Kind)
	}
	if len(l.rounds) != rounds || !slices.Equal(got, kinds) {
		l.t.Errorf("%d rounds, events %q; want %d, %q", len(l.rounds), got, rounds, kinds)
	}
}

// bubble runs a test with a clock that only moves when everything waits.
func bubble(t *testing.T, f func(*testing.T)) { synctest.Test(t, f) }

func TestRoundAfterEvent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := start(t)
		l.write("a")
		after(time.Hour)
		l.run()
		l.want(1, Ready)
		l.write("ab")
		l.event()
		after(quiet)
		l.want(2, Ready, Store)
		after(fileid.Resolution) // again, because the file had just changed
		l.want(3, Ready, Store)
		looks := l.looks
		l.event() // without a change
		after(fileid.Resolution)
		if l.want(3, Ready, Store); l.looks != looks+1 {
			t.Errorf("%d looks", l.looks-looks)
		}
	})
}

// TestIdle counts how often a loop wakes up when nothing happens.
func TestIdle(t *testing.T) {
	for name, c := range map[string]struct {
		coverage fsevents.Coverage
		looks    int // in a day
	}{
		"events":     {fsevents.Coverage{}, 24 * 60},
		"no events":  {fsevents.Coverage{Missing: 1}, 24 * 60 * 12},
		"the bounds": {fsevents.Coverage{Missing: 1, Err: fsevents.ErrLimit}, 24 * 60 * 12},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				l := start(t)
				l.write("a")
				after(time.Hour)
				l.coverage = c.coverage
				l.run()
				after(24 * time.Hour)
				if len(l.rounds) != 1 || l.looks > c.looks+1 || l.looks < c.looks-1 {
					t.Errorf("%d rounds and %d looks in an idle day, want 1 and %d", len(l.rounds), l.looks, c.looks)
				}
			})
		})
	}
}

// TestLostEvent changes a file without an event.
func TestLostEvent(t *testing.T) {
	for _, missing := range []int{0, 1} {
		bubble(t, func(t *testing.T) {
			l := start(t)
			l.coverage.Missing = missing
			l.write("a")
			after(time.Hour)
			l.run()
			l.write("ab")
			wait := DefaultInterval
			if missing == 0 {
				wait *= safetyFactor
			}
			after(wait - 1)
			l.want(1, Ready)
			after(2)
			l.want(2, Ready, Store)
		})
	}
}

// TestStorm changes the source without a pause: the loop neither waits for ever, nor
// wakes up for each event.
func TestStorm(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := start(t)
		l.write("a")
		l.run()
		for i := range 600 {
			l.write(strings.Repeat("a", i))
			l.event()
			time.Sleep(100 * time.Millisecond)
		}
		if n := len(l.rounds); n < 5 || n > 8 {
			t.Errorf("%d rounds in a minute of changes", n)
		}
		after(time.Hour)
		if last := l.sizes[len(l.sizes)-1]; last != 599 {
			t.Errorf("the last round saw %d bytes", last)
		}
	})
}

// TestSameTick changes a file twice within a tick of its file system, the second time
// after a round began to read it.
func TestSameTick(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := start(t)
		l.write("a")
		l.run()
		tick := time.Now()
		os.WriteFile(l.src, []byte("b"), 0o666)
		os.Chtimes(l.src, tick, tick)
		after(time.Minute)
		l.want(2, Ready, Store)
	})
}

// TestReplaced replaces the source by a file of the same size and time.
func TestReplaced(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := start(t)
		l.write("a")
		tick := time.Now()
		after(time.Hour)
		l.run()
		fresh := l.src + ".tmp"
		os.WriteFile(fresh, []byte("b"), 0o666)
		os.Chtimes(fresh, tick, tick)
		if err := os.Rename(fresh, l.src); err != nil {
			t.Fatal(err)
		}
		l.event()
		after(time.Minute)
		l.want(2, Ready, Store)
	})
}

func TestVanishedSource(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := start(t)
		l.run()
		l.want(0, Problem)
		after(24 * time.Hour)
		l.want(0, Problem)
		l.write("a")
		l.event()
		after(2 * time.Second)
		l.want(1, Problem, Recovered, Ready)
		after(time.Hour)
		os.Remove(l.src)
		l.event()
		after(time.Hour)
		rounds := len(l.rounds)
		l.write("ab")
		l.event()
		after(time.Second)
		if l.events = l.events[len(l.events)-3:]; len(l.rounds) != rounds+1 {
			t.Errorf("%d rounds, want %d", len(l.rounds), rounds+1)
		}
		l.want(rounds+1, Problem, Recovered, Store)
	})
}

// TestFullDisk lets rounds fail for a while.
func TestFullDisk(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := start(t)
		l.write("a")
		after(time.Hour)
		full := &formats.Error{At: "text", Err: fmt.Errorf("the disk is full: %w", syscall.ENOSPC), Hint: "free some space"}
		for range 20 {
			l.results = append(l.results, full)
		}
		begin := time.Now()
		l.run()
		for range 1000 { // events do not shorten the pauses
			l.event()
			after(time.Second)
		}
		l.want(21, Problem, Recovered, Ready)
		if e := l.events[0]; e.Retry != 1 || e.Hint != "free some space" || !strings.Contains(e.Message, "disk is full") {
			t.Errorf("%+v", e)
		}
		var pauses []time.Duration
		for _, at := range l.rounds[1:] {
			pauses, begin = append(pauses, at.Sub(begin)/time.Second), at
		}
		if want := []time.Duration{1, 2, 4, 8, 16, 32, 60, 60}; !slices.Equal(pauses[:8], want) {
			t.Errorf("pauses of %d seconds, want %d", pauses[:8], want)
		}
	})
}

// TestBusy lets a store be in use: for a moment, which nobody has to know, and for long.
func TestBusy(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := start(t)
		l.write("a")
		after(time.Hour)
		l.results = []error{formats.Changed("x", "store.db"), formats.Changed("x", "store.db"), nil}
		l.run()
		after(time.Minute)
		l.want(3, Ready)
		l.results = []error{formats.ErrBusy, formats.ErrBusy, formats.ErrBusy, formats.ErrBusy, nil}
		l.write("ab")
		after(time.Hour)
		l.want(8, Ready, Problem, Recovered, Store)
	})
}

// TestFailedStore lets one store of two fail, for two reasons one after another. The
// other one is updated all the same.
func TestFailedStore(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := start(t)
		good, err := chat.Stores.ReadFile("before.db")
		if err != nil {
			t.Fatal(err)
		}
		os.MkdirAll(filepath.Join(l.src, "a"), 0o777)
		os.MkdirAll(filepath.Join(l.src, "b"), 0o777)
		os.WriteFile(filepath.Join(l.src, "a", "store.db"), good, 0o666)
		states := [][]byte{good[:5000], good[:5000], append(make([]byte, 100), good...), good}
		l.watcher.update = func(ctx context.Context) (*convert.Report, error) {
			os.WriteFile(filepath.Join(l.src, "b", "store.db"), states[0], 0o666)
			states = states[min(1, len(states)-1):]
			return convert.Convert(ctx, all.Registry(), l.src, filepath.Join(t.TempDir(), "text"), convert.Options{To: "archive"})
		}
		l.run()
		after(20 * time.Second)
		var got []string
		for _, e := range l.events {
			got = append(got, fmt.Sprintf("%s %s %g", e.Kind, e.Store, e.Retry))
		}
		want := []string{"problem b/store.db 1", "ready  0", "store a 0", "problem b/store.db 4", "store a 0", "recovered  0", "store a 0", "store b 0"}
		if got = got[:min(len(got), len(want))]; !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
	})
}

// TestUnknown waits for a change of a source that holds no store.
func TestUnknown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := start(t)
		l.write("a")
		after(time.Hour)
		l.results = []error{formats.ErrUnknown}
		l.run()
		after(24 * time.Hour)
		l.want(1, Problem)
		l.write("SQLite")
		l.event()
		after(2 * time.Second)
		l.want(2, Problem, Recovered, Ready)
	})
}

func TestMisuseEnds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := start(t)
		l.write("a")
		l.results = []error{convert.Misuse{}}
		if err := l.watcher.run(t.Context(), l); !errors.As(err, new(convert.Misuse)) {
			t.Errorf("%v", err)
		}
	})
}

// TestCanceled ends the loop in a round and while it waits. Neither is an error, nor a
// problem to report.
func TestCanceled(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := start(t)
		l.write("a")
		ctx, cancel := context.WithCancel(t.Context())
		l.watcher.update = func(context.Context) (*convert.Report, error) {
			cancel()
			return &convert.Report{}, context.Canceled
		}
		if err := l.watcher.run(ctx, l); err != nil {
			t.Error(err)
		}
		l.want(0)
	})
}

// TestLastRound ends the loop after an update: what it did is reported.
func TestLastRound(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := start(t)
		l.write("a")
		ctx, cancel := context.WithCancel(t.Context())
		l.watcher.list = func(ctx context.Context, _ []string) []session.Head {
			if ctx.Err() != nil {
				t.Error("sessions are listed with a context that has ended")
			}
			return nil
		}
		update := l.watcher.update
		l.watcher.update = func(ctx context.Context) (*convert.Report, error) {
			cancel()
			return update(ctx)
		}
		if err := l.watcher.run(ctx, l); err != nil {
			t.Error(err)
		}
		l.want(1, Ready)
	})
}

// TestSlow lets looks and rounds take long: they are not repeated without a pause.
func TestSlow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := start(t)
		l.write("a")
		update := l.watcher.update
		l.watcher.update = func(ctx context.Context) (*convert.Report, error) {
			time.Sleep(time.Minute)
			return update(ctx)
		}
		l.run()
		for i := range 720 {
			l.write(strings.Repeat("a", i))
			l.event()
			time.Sleep(5 * time.Second)
		}
		if n := len(l.rounds); n < 10 || n > 16 {
			t.Errorf("%d rounds of a minute in an hour of changes", n)
		}
	})
}

// TestSessions reports what changed in a store by its sessions.
func TestSessions(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := start(t)
		l.write("a")
		turns := map[string]int64{"agent-1": 1, "agent-2": 5}
		l.watcher.list = func(context.Context, []string) (out []session.Head) {
			for _, id := range []string{"agent-1", "agent-2", "agent-3"} {
				if n, ok := turns[id]; ok {
					out = append(out, session.Head{ID: id, Agent: "cursor-sdk", Title: "Title of " + id, Turns: n})
				}
			}
			return out
		}
		l.run()
		after(time.Hour)
		l.events = nil
		turns["agent-1"], turns["agent-3"] = 3, 1
		l.write("ab")
		l.event()
		after(time.Second)
		l.want(len(l.rounds), Session, Session)
		for i, want := range []struct {
			id         string
			turns, new int64
		}{{"agent-1", 3, 2}, {"agent-3", 1, 1}} {
			if e := l.events[i]; e.Session != want.id || e.Turns == nil || *e.Turns != want.turns || e.NewTurns == nil || *e.NewTurns != want.new {
				t.Errorf("%+v, want %+v", e, want)
			}
		}
	})
}

// TestKept reports a store that has vanished, once.
func TestKept(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := start(t)
		l.write("a")
		l.run()
		l.report = func() *convert.Report {
			return &convert.Report{Stores: []convert.StoreReport{{Path: "x", Status: convert.Kept, Change: convert.Kept}, {Path: "y", Status: convert.Placed, Change: convert.Unchanged}}}
		}
		for _, text := range []string{"ab", "abc", "abcd"} {
			l.write(text)
			after(time.Hour)
		}
		l.want(len(l.rounds), Ready, Kept)
	})
}
