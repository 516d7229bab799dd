package all_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/formatstest/graphgen"
	"rehome/formats/formatstest/idegen"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// TestWrittenForClaude counts what of generated stores arrives in Claude Code's
// files: every call, every result, every picture that is one; the others and
// what nobody can read are in the notes.
func TestWrittenForClaude(t *testing.T) {
	arrived := arrivals{}
	for shape := range graphgen.Shapes {
		for seed := range uint64(min(*seeds, 6)) {
			p := graphgen.New(seed, shape)
			g := p.Graph()
			t.Run(fmt.Sprintf("chat/%v/%d", shape, seed), func(t *testing.T) {
				arrived.of(t, "cursor-chat", chatStore(t, p, g, graphgen.Odd{}), seed%2 == 0)
			})
			t.Run(fmt.Sprintf("sdk/%v/%d", shape, seed), func(t *testing.T) {
				arrived.of(t, "cursor-sdk", sdkStore(t, p, g, graphgen.Odd{}).Project, seed%2 == 0)
			})
		}
	}
	for seed := range uint64(min(*seeds, 6)) {
		t.Run(fmt.Sprintf("ide/%d", seed), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "User")
			if err := idegen.New(seed, 20).Write(t.Context(), dir); err != nil {
				t.Fatal(err)
			}
			arrived.of(t, "cursor-ide", dir, seed%2 == 0)
		})
	}
	if arrived.sessions < 60 || arrived.calls < 200 || arrived.pictures < 10 || arrived.named < 10 {
		t.Errorf("too little came by to say anything: %+v", arrived)
	}
}

// arrivals is what came by of all stores.
type arrivals struct{ sessions, calls, pictures, named int }

func (a *arrivals) of(t *testing.T, format, path string, sound bool) {
	t.Helper()
	to := all.Registry().Lookup("claude-code")
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	dir, n := t.TempDir(), 0
	for s, err := range all.Registry().Lookup(format).Sessions.Decode(t.Context(), l, formats.View{OnLoss: func(loss.Loss) {}}, session.Selection{}) {
		if err != nil {
			continue // other tests say whether it may fail
		}
		n++
		at := filepath.Join(dir, fmt.Sprint(n))
		said := &said{sound: sound}
		notes := map[loss.Code]int{}
		s.Messages = said.listen(s.Messages)
		draft, err := to.Writer.New().Put(t.Context(), s, formats.SessionBuild{Path: at, OnLoss: func(n loss.Loss) { notes[n.Code]++ }})
		if err != nil {
			t.Fatal(err)
		}
		if err := draft.Verify(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := read(t, at)
		named := notes[loss.MediaNamed] + notes[loss.ResultMediaNamed] + notes[loss.AnswerImage]
		stray := notes[loss.ResultOrphan]
		switch {
		case got.calls != said.calls:
			t.Errorf("%s: %d calls arrive of %d", s.ID, got.calls, said.calls)
		case got.results != said.calls:
			t.Errorf("%s: %d calls have %d results", s.ID, said.calls, got.results)
		case said.results+notes[loss.ResultAdded] != got.results+stray:
			t.Errorf("%s: %d results arrive, %d of them made up, of %d; %d as text", s.ID, got.results, notes[loss.ResultAdded], said.results, stray)
		case got.pictures+named < said.pictures:
			t.Errorf("%s: %d pictures arrive and %d are noted, of %d", s.ID, got.pictures, named, said.pictures)
		case sound && got.whole != said.pictures:
			t.Errorf("%s: %d pictures arrive as they were, of %d", s.ID, got.whole, said.pictures)
		}
		for _, text := range said.beside {
			if !strings.Contains(got.text, text) {
				t.Errorf("%s: lost: %.80q", s.ID, text)
			}
		}
		for _, text := range said.texts {
			if !strings.Contains(got.text, text) {
				t.Errorf("%s: lost, or not in its place: %.80q", s.ID, text)
				break
			}
			_, got.text, _ = strings.Cut(got.text, text)
		}
		a.sessions, a.calls, a.pictures, a.named = a.sessions+1, a.calls+got.calls, a.pictures+got.whole, a.named+named
	}
}

// said is what the source says.
type said struct {
	sound                    bool // its pictures are made such that anybody can read them
	calls, results, pictures int
	texts, beside            []string // beside: of branches
}

// dot is a picture that can be read.
func dot() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func (s *said) listen(from func(func(*session.Message, error) bool)) func(func(*session.Message, error) bool) {
	return func(yield func(*session.Message, error) bool) {
		for m, err := range from {
			if err == nil {
				at := len(s.texts)
				if s.parts(m.Role, m.Parts); m.Branch != "" {
					s.texts, s.beside = s.texts[:at], append(s.beside, s.texts[at:]...)
				}
			}
			if !yield(m, err) {
				return
			}
		}
	}
}

func (s *said) parts(role session.Role, list []session.Part) {
	for _, p := range list {
		switch p := p.(type) {
		case *session.ToolCall:
			s.calls++
		case *session.ToolResult:
			s.results++
			s.parts("", p.Content)
		case *session.Media:
			s.pictures++
			if s.sound {
				p.Data = dot()
			}
		case *session.Text:
			if role == session.User && strings.TrimSpace(p.Text) != "" {
				s.texts = append(s.texts, p.Text)
			}
		}
	}
}

// heard is what a file says.
type heard struct {
	calls, results, pictures, whole int
	text                            string
}

func read(t *testing.T, path string) (h heard) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var l struct {
			Message struct{ Content json.RawMessage }
		}
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		h.take(l.Message.Content)
	}
	return h
}

func (h *heard) take(content json.RawMessage) {
	var text string
	if json.Unmarshal(content, &text) == nil {
		h.text += text + "\n"
		return
	}
	var blocks []struct {
		Type, Text string
		Content    json.RawMessage
		Source     struct{ Data string }
	}
	if json.Unmarshal(content, &blocks) != nil {
		return
	}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			h.text += b.Text + "\n"
		case "tool_use":
			h.calls++
		case "tool_result":
			h.results++
			h.take(b.Content)
		case "image", "document":
			h.pictures++
			if b.Source.Data == base64.StdEncoding.EncodeToString(dot()) {
				h.whole++
			}
		}
	}
}
