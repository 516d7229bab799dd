package transcript

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"rehome/formats"
)

// rewritten is a file that its client writes anew: the first so many reads see
// one text, later ones another of the same length.
type rewritten struct {
	reads  int
	was    string
	is     string
	cursor int
}

func (r *rewritten) ReadAt(p []byte, at int64) (int, error) {
	text := r.was
	if r.cursor++; r.cursor > r.reads {
		text = r.is
	}
	return strings.NewReader(text).ReadAt(p, at)
}

// TestRewritten: a transcript that is another one when it is read again is
// busy. Nothing of it is told as if it were the one that was surveyed.
func TestRewritten(t *testing.T) {
	user, answer := `{"role":"user","message":{"content":"hi"}}`+"\n", `{"role":"assistant","message":{"content":"yo"}}`+"\n"
	texts := []string{"", user, answer + user, user + user + user, user + answer + user, user + `{"type":"turn_ended","status":"aborted"}` + "\n" + user, `{"type":"error","error":"x"}` + "\n" + user}
	most := 0
	for _, s := range texts {
		most = max(most, len(s))
	}
	for i := range texts {
		texts[i] = strings.Repeat(" ", most-len(texts[i])) + texts[i] // blanks in front: each line is still one
	}
	busy := 0
	for i, was := range texts {
		for k, is := range texts {
			f := &rewritten{reads: 1 << 30, was: was, is: is}
			s, err := NewSurvey(t.Context(), io.NewSectionReader(f, 0, int64(most)), "f.jsonl", nil)
			if err != nil {
				t.Fatal(err)
			}
			f.reads = 0
			check := func(what string, err error, must bool) {
				switch {
				case err == nil && must && i != k:
					t.Errorf("%s of %q after %q: nothing is said", what, is, was)
				case err != nil && (i == k || !errors.Is(err, formats.ErrBusy)):
					t.Errorf("%s of %q after %q: %v", what, is, was, err)
				case err != nil:
					busy++
				}
			}
			var last error
			turns := 0
			for m, err := range s.Messages(t.Context(), nil) {
				if last = err; m != nil && m.Turn != nil {
					turns++
				}
			}
			check("messages", last, turns != len(s.Turns))
			for n := range s.Turns {
				_, err := s.Prompt(t.Context(), n)
				check(fmt.Sprint("prompt ", n), err, false)
				for _, err := range s.Rest(t.Context(), n) {
					check(fmt.Sprint("rest ", n), err, false)
				}
			}
		}
	}
	if busy < 20 {
		t.Errorf("busy %d times", busy)
	}
}

// counted counts what is read.
type counted struct {
	io.ReaderAt
	bytes int
}

func (c *counted) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, at)
	c.bytes += n
	return n, err
}

// TestPromptReadsLittle: to look at the turns one by one costs what they are long,
// not the file for each.
func TestPromptReadsLittle(t *testing.T) {
	read := func(n int) int {
		text := strings.Repeat(`{"role":"user","message":{"content":"hi"}}`+"\n"+`{"role":"assistant","message":{"content":"yo"}}`+"\n", n)
		f := &counted{ReaderAt: strings.NewReader(text)}
		s, err := NewSurvey(t.Context(), io.NewSectionReader(f, 0, int64(len(text))), "f.jsonl", nil)
		if err != nil {
			t.Fatal(err)
		}
		f.bytes = 0
		for i := range s.Turns {
			if _, err := s.Prompt(t.Context(), i); err != nil {
				t.Fatal(err)
			}
			for _, err := range s.Rest(t.Context(), i) {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		return f.bytes
	}
	if small, large := read(1000), read(8000); large > 10*small || small > 1000*10<<10 {
		t.Errorf("%d bytes for 1,000 turns, %d for 8,000", small, large)
	}
}
