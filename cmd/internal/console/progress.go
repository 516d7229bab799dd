package console

import (
	"io"
	"math"
	"strings"
	"time"

	"rehome/cmd/internal/screen"
	"rehome/convert"
)

// bar is a progress bar on one line of a terminal. A nil bar draws nothing.
type bar struct {
	w       io.Writer
	columns func() int
	now     func() time.Time

	stage string
	since time.Time // when the stage began
	last  time.Time // when the line was last drawn
	drawn bool
}

const redrawInterval = 100 * time.Millisecond

// Progress returns the callback that reports progress, or nil if progress is not shown.
func (o *Output) Progress() func(convert.Progress) {
	if o.Quiet || !IsTerminal(o.stderr) || o.Getenv("TERM") == "dumb" {
		return nil
	}
	o.bar = &bar{w: o.stderr, now: time.Now, columns: func() int { return Columns(o.stderr) }}
	return func(p convert.Progress) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.bar.draw(p)
	}
}

// EndProgress removes the progress bar.
func (o *Output) EndProgress() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bar.clear()
	o.bar = nil
}

func (b *bar) clear() {
	if b != nil && b.drawn {
		io.WriteString(b.w, "\r\x1b[K")
		b.drawn = false
	}
}

func (b *bar) draw(p convert.Progress) {
	if b == nil { // ended
		return
	}
	now := b.now()
	if p.Stage != b.stage {
		b.stage, b.since = p.Stage, now
	}
	if b.drawn && now.Sub(b.last) < redrawInterval && doneShare(p) < 1 {
		return
	}
	b.last, b.drawn = now, true
	io.WriteString(b.w, "\r\x1b[K"+string(b.line(p, now.Sub(b.since))))
}

// line returns the text of the bar, at least one column shorter than the terminal.
func (b *bar) line(p convert.Progress, elapsed time.Duration) screen.Safe {
	tail, done := " "+screen.Size(p.Done), doneShare(p)
	if p.Total > 0 || p.Stores > 1 {
		const cells = 20
		full := int(done * cells)
		tail = screen.Sprintf(" [%s%s] %3.0f%%", strings.Repeat("#", full), strings.Repeat(".", cells-full), math.Floor(done*100))
	}
	if elapsed > redrawInterval {
		if p.Done > 0 {
			tail += " " + screen.Size(int64(float64(p.Done)/elapsed.Seconds())) + "/s"
		}
		if done > 0 && done < 1 {
			tail += " eta " + formatDuration(time.Duration(float64(elapsed)*(1/done-1)))
		}
	}
	head := screen.Visible(p.Stage)
	if p.Stores > 1 {
		head += screen.Sprintf(" %d/%d", p.StoresDone, p.Stores)
	}
	room := b.columns() - 1 - screen.Cells(head) - screen.Cells(tail)
	if room > 8 && p.Store != "" && p.Store != "." {
		head += " " + screen.CutLeft(screen.Visible(p.Store), room-1)
	}
	return screen.Cut(head+tail, max(b.columns()-1, 0))
}

// doneShare returns how much is done, from 0 to 1: by bytes or by stores, whichever
// is further. A store has bytes that need not be read.
func doneShare(p convert.Progress) (share float64) {
	if p.Total > 0 {
		share = min(float64(p.Done)/float64(p.Total), 1)
	}
	if p.Stores > 0 {
		share = max(share, float64(p.StoresDone)/float64(p.Stores))
	}
	return share
}

// formatDuration returns a duration as 0:07, 12:30 or 1:02:03.
func formatDuration(d time.Duration) screen.Safe {
	s := int(d.Round(time.Second).Seconds())
	if s >= 3600 {
		return screen.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return screen.Sprintf("%d:%02d", s/60, s%60)
}
