package console

import (
	"strings"
	"testing"
	"time"

	"rehome/cmd/internal/clitest"
	"rehome/cmd/internal/screen"
	"rehome/convert"
)

func TestBar(t *testing.T) {
	var w strings.Builder
	now := time.Unix(0, 0)
	b := &bar{w: &w, columns: func() int { return 70 }, now: func() time.Time { return now }}
	b.draw(convert.Progress{Stage: "reading", Store: "state.vscdb", Done: 0, Total: 400e6})
	now = now.Add(50 * time.Millisecond)
	b.draw(convert.Progress{Stage: "reading", Store: "state.vscdb", Done: 1e6, Total: 400e6}) // too soon
	now = now.Add(950 * time.Millisecond)
	b.draw(convert.Progress{Stage: "reading", Store: "state.vscdb", Done: 100e6, Total: 400e6})
	now = now.Add(time.Second)
	b.draw(convert.Progress{Stage: "checking", Store: "a\x1b]0;/very/long/path/that/does/not/fit/store.db", Done: 5e6, Stores: 12,
		StoresDone: 3})
	b.draw(convert.Progress{Stage: "reading", Store: "chats", Done: 70e6, Total: 100e6, Stores: 2, StoresDone: 2}) // at once
	b.clear()
	b.clear()
	want := strings.Join([]string{
		"", "reading state.vscdb [....................]   0%",
		"reading state.vscdb [#####...............]  25% 100 MB/s eta 0:03",
		`checking 3/12 …that/does/not/fit/store.db [#####...............]  25%`,
		"reading 2/2 chats [####################] 100%", "",
	}, "\r\x1b[K")
	if w.String() != want {
		t.Errorf("got  %q\nwant %q", w.String(), want)
	}
	for n := range 90 {
		b.columns = func() int { return n }
		if got := b.line(convert.Progress{Stage: "reading", Store: "日本/store.db", Done: 1e9, Total: 4e9, Stores: 1000},
			time.Hour); screen.Cells(got) > max(n-1, 0) {
			t.Errorf("%d columns: %q", n, got)
		}
	}
	if none := (*bar)(nil); true {
		none.clear()
	}
}

func TestDuration(t *testing.T) {
	for in, want := range map[time.Duration]string{0: "0:00", 7 * time.Second: "0:07", 750 * time.Second: "12:30", 3723 * time.Second: "1:02:03"} {
		if got := string(formatDuration(in)); got != want {
			t.Errorf("formatDuration(%v) = %s, want %s", in, got, want)
		}
	}
}

// TestHostileProgress: what is foreign in the line of progress is made visible.
func TestHostileProgress(t *testing.T) {
	b := &bar{w: &strings.Builder{}, columns: func() int { return 500 }, now: time.Now}
	if what := clitest.Acts(string(b.line(convert.Progress{Stage: clitest.Hostile, Store: clitest.Hostile, Stores: 3, StoresDone: 1},
		time.Second))); what != "" {
		t.Errorf("progress: %q", what)
	}
}
