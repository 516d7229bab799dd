package prefetch

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

var errTorn = errors.New("torn")

// part decodes two sessions: one of messages of n bytes with a loss each and a
// file, and one that cannot be read.
func part(name string, messages, n int) Decode {
	return func(ctx context.Context, v formats.View, sel session.Selection) iter.Seq2[*session.Session, error] {
		return func(yield func(*session.Session, error) bool) {
			s := &session.Session{Head: session.Head{ID: name}}
			s.Messages = func(yield func(*session.Message, error) bool) {
				for i := range messages {
					if ctx.Err() != nil {
						yield(nil, ctx.Err())
						return
					}
					v.OnLoss.Add(loss.Loss{Code: loss.LineTorn, At: store.Addr{File: name, Line: i + 1}})
					sel.Account.Add(session.Account{Read: 1, Converted: 1})
					if !yield(&session.Message{ID: fmt.Sprint(name, i), Parts: []session.Part{&session.Text{Text: strings.Repeat("x", n)}}}, nil) {
						return
					}
				}
				sel.Account.Add(session.Account{Read: 1, Unreadable: 1})
			}
			s.Files = func(yield func(*session.File, error) bool) {
				if yield(&session.File{Path: name, Before: &session.Body{}}, nil) {
					yield(nil, errTorn)
				}
			}
			if yield(s, nil) {
				yield(&session.Session{Head: session.Head{ID: name + "-bad"}}, errTorn)
			}
		}
	}
}

func parts() (list []Decode) {
	for i := range 12 {
		list = append(list, part(fmt.Sprintf("p%d-", i), i*3, 1<<(2*i)/64))
	}
	return list
}

// told is what a consumer sees, in order. It reads the sessions that read selects.
func told(ctx context.Context, jobs int, list []Decode, read func(id string) bool) (out []string) {
	var account session.SharedAccount
	v := formats.View{Jobs: jobs, OnLoss: func(l loss.Loss) { out = append(out, fmt.Sprint("loss ", l.At)) }}
sessions:
	for s, err := range Sessions(ctx, v, session.Selection{Account: &account}, list) {
		if err != nil {
			out = append(out, fmt.Sprint(s != nil && s.ID != "", err))
			continue
		}
		if out = append(out, s.ID); !read(s.ID) {
			continue
		}
		for m, err := range s.Messages {
			if err != nil {
				out = append(out, err.Error())
			} else {
				out = append(out, fmt.Sprint(m.ID, len(m.Parts[0].(*session.Text).Text)))
			}
			if s.ID == "p7-" {
				continue sessions // and counts no more of this one
			}
		}
		for f, err := range s.Files {
			out = append(out, fmt.Sprint(f != nil && f.Path != "", err))
		}
	}
	return append(out, fmt.Sprint(account.Total()))
}

func all(string) bool { return true }

func settled(t *testing.T, before int) {
	t.Helper()
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("goroutines are left")
}

func TestAnyWorkers(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, read := range []func(string) bool{all, func(string) bool { return false }, func(id string) bool { return strings.Contains(id, "3") }} {
		want := told(t.Context(), 1, parts(), read)
		for _, jobs := range []int{0, 2, 3, 50} {
			if got := told(t.Context(), jobs, parts(), read); !slices.Equal(got, want) {
				t.Errorf("%d workers: %q, want %q", jobs, got, want)
			}
		}
	}
	settled(t, before)
}

func TestStopped(t *testing.T) {
	before := runtime.NumGoroutine()
	for n := range 12 {
		for s, err := range Sessions(t.Context(), formats.View{Jobs: 3}, session.Selection{}, parts()) {
			if err != nil {
				continue
			}
			seen := 0
			for range s.Messages {
				if seen++; seen > n {
					break
				}
			}
			if seen > n && n%2 == 0 {
				break
			}
		}
	}
	settled(t, before)
}

func TestCanceled(t *testing.T) {
	before := runtime.NumGoroutine()
	for n := range 40 {
		ctx, cancel := context.WithCancel(t.Context())
		seen, failed := 0, false
		for s, err := range Sessions(ctx, formats.View{Jobs: 2}, session.Selection{}, parts()) {
			if failed = errors.Is(err, context.Canceled); failed || err != nil {
				continue
			}
			for _, err := range s.Messages {
				if seen++; seen == n {
					cancel()
				}
				failed = failed || errors.Is(err, context.Canceled)
			}
		}
		if seen >= n && n > 0 && !failed {
			t.Errorf("canceled after %d messages, and no error", n)
		}
		cancel()
	}
	settled(t, before)
}

// TestEnds: an error without a session ends the stream.
func TestEnds(t *testing.T) {
	broken := func(context.Context, formats.View, session.Selection) iter.Seq2[*session.Session, error] {
		return func(yield func(*session.Session, error) bool) { yield(nil, errTorn) }
	}
	for _, jobs := range []int{1, 2} {
		got := told(t.Context(), jobs, []Decode{part("a", 1, 1), broken, part("b", 1, 1)}, all)
		if want := []string{"a", "loss a:1", "a01", "true <nil>", "false torn", "true torn", "false torn", "{2 1 0 0 1 0 0 0}"}; !slices.Equal(got, want) {
			t.Errorf("%d workers: %q, want %q", jobs, got, want)
		}
	}
}

func TestMessageSize(t *testing.T) {
	text, raw := "0123456789", session.Raw("0123456789")
	extras := []session.Extra{{Raw: raw}}
	for _, p := range []session.Part{&session.Text{Text: text}, &session.Injected{Text: text}, &session.Thinking{Data: text}, &session.ToolCall{Args: raw},
		&session.ToolResult{Value: raw}, &session.ToolResult{Content: []session.Part{&session.Text{}}}, &session.Media{Data: raw}, &session.Summary{Text: text}, &session.Opaque{Raw: raw}, &session.Text{Extras: extras}} {
		if n := messageSize(&session.Message{Parts: []session.Part{p}}) - messageSize(&session.Message{}); n < 256+10 {
			t.Errorf("%T: %d bytes", p, n)
		}
	}
}
