package convert

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// What is planted is put together when the test runs, so that no scanner of repositories
// finds it here.
func secrets() []string {
	rnd := rand.New(rand.NewPCG(20, 26))
	some := func(n int, of string) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = of[rnd.IntN(len(of))]
		}
		return string(b)
	}
	const alnum = "abcdefghijklmnopqrstuvwxyz0123456789"
	return []string{"gh" + "p_" + some(36, alnum), some(30, alnum), `Bolt & "Söhne"`}
}

// planter is a visitor that appends secrets to texts, spelled in ever other ways.
type planter struct{ n int }

func (p *planter) plant(text string) string {
	all := secrets()
	p.n++
	if p.n == 1 {
		text += " session_secret=" + all[1] // where it is recognized
	}
	s := all[p.n%len(all)]
	inner, _ := json.Marshal(map[string]string{s: "say " + s})
	deep, _ := json.Marshal(map[string]string{"deep": string(inner)})
	switch p.n % 5 {
	case 0:
		return text + " " + base64.StdEncoding.EncodeToString([]byte("say "+s)) + " "
	case 1:
		return text + " " + hex.EncodeToString([]byte(s)) + " "
	case 2:
		return text + " " + string(deep)
	case 3:
		return text + " https://host.invalid/?q=" + url.QueryEscape(s) + " "
	}
	return text + " " + s + "\n"
}

// structural are members that no conversation is in.
func structural() []string {
	return strings.Fields("id parent branch role status kind mode model from session call mime agent workspace tag uri origin path type requestId child needs data signature")
}

func (p *planter) Required(name string, value any) { p.Optional(name, value) }

func (p *planter) Optional(name string, value any) {
	switch v := value.(type) {
	case *string:
		if *v != "" && !slices.Contains(structural(), name) && name != "name" {
			*v = p.plant(*v)
		}
	case *session.UTF8:
		if utf8.Valid(*v) {
			*v = []byte(p.plant(string(*v)))
		}
	case *session.Raw:
		var o map[string]any
		if json.Unmarshal(*v, &o) == nil {
			for _, k := range []string{"command", "content", "stdout", "output", "text"} {
				if s, ok := o[k].(string); ok {
					o[k] = p.plant(s)
				}
			}
			*v, _ = json.Marshal(o)
		}
	case *[]byte:
		*v = picture(secrets()[0])
	case *[]session.Part:
		for _, one := range *v {
			if _, ok := one.(*session.Thinking); ok && p.n%2 == 0 {
				continue
			}
			session.Visit(one, p)
		}
	case *[]session.Extra:
	case session.Object:
		if r := v.Get(); r != nil {
			session.Visit(r, p)
		}
	case session.Objects:
		for i := range v.Len() {
			session.Visit(v.At(i), p)
		}
	}
}

// picture is a PNG with a comment.
func picture(comment string) []byte {
	one, _ := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	text := "tEXtComment\x00" + comment
	chunk := append([]byte{0, 0, 0, byte(len(text) - 4)}, text...)
	return slices.Concat(one[:33], chunk, []byte{1, 2, 3, 4}, one[33:])
}

// survivor returns how and where a secret is in bytes. It knows nothing of package redact.
func survivor(b []byte) string {
	for i, s := range secrets() {
		quoted, _ := json.Marshal(s)
		twice, _ := json.Marshal(string(quoted[1 : len(quoted)-1]))
		escapes, wide := "", ""
		for _, u := range utf16.Encode([]rune(s)) {
			escapes += fmt.Sprintf(`\u%04x`, u)
			wide += string([]byte{byte(u), byte(u >> 8)})
		}
		forms := []string{s, string(quoted[1 : len(quoted)-1]), string(twice[1 : len(twice)-1]), escapes, wide, url.QueryEscape(s), hex.EncodeToString([]byte(s)), strings.ToUpper(hex.EncodeToString([]byte(s)))}
		for shift := range 3 {
			text := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + s))
			text = text[(shift*8+5)/6 : len(text)-2]
			forms = append(forms, text, strings.NewReplacer("+", "-", "/", "_").Replace(text), hex.EncodeToString([]byte(text)))
		}
		for k, form := range forms {
			if at := bytes.Index(b, []byte(form)); at >= 0 {
				return fmt.Sprintf("secret %d in form %d at %d", i, k, at)
			}
		}
	}
	return ""
}

// survivors fails the test for each file below a folder that holds a secret.
func survivors(t *testing.T, what, dir string) {
	t.Helper()
	n := 0
	filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		n++
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if how := survivor(b); how != "" {
			t.Errorf("%s: %s: %s", what, path, how)
		}
		return nil
	})
	if n == 0 {
		t.Errorf("%s: no files", what)
	}
}

// plantedText writes the sessions that the golden tests expect of each format as one
// canonical text, with secrets in them.
func plantedText(t *testing.T, dir, route string) string {
	t.Helper()
	reg, p := all.Registry(), &planter{}
	canonical := reg.Lookup("canonical")
	var found []string
	err := filepath.WalkDir("../golden/"+route, func(path string, e fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".jsonl" {
			found = append(found, path)
		}
		return err
	})
	if err != nil || len(found) == 0 {
		t.Fatal(route, err)
	}
	n := 0
	for _, file := range found {
		l, err := formats.Locate(file)
		if err != nil {
			t.Fatal(err)
		}
		for s, err := range canonical.Sessions.Decode(t.Context(), l, formats.FullView(1), session.Selection{}) {
			if err != nil {
				t.Fatal(file, err)
			}
			if s.Parent != nil || s.Status == session.PromptHistory {
				continue
			}
			n++
			s.ID = fmt.Sprintf("5d0b2b7e-0000-4000-8000-%012d", n)
			s.Workspace = "/proj/app"
			session.Visit(s, p)
			text := append(session.AppendHead(nil, s), '\n')
			err := session.Each(t.Context(), s.Messages, func(m *session.Message) error {
				session.Visit(m, p)
				text = append(session.AppendMessage(text, m), '\n')
				return nil
			})
			err = errors.Join(err, session.Each(t.Context(), s.Files, func(f *session.File) error {
				session.Visit(f, p)
				text = append(session.AppendFile(text, f), '\n')
				return nil
			}))
			if err != nil {
				t.Fatal(file, err)
			}
			write(t, fmt.Sprintf("%s/%d.jsonl", dir, n), string(text))
		}
	}
	write(t, dir+"/.rehomeredact", "# customers\n"+secrets()[2]+"\n")
	return dir
}

// TestRedactedSessions plants secrets in the sessions that each format is read as, writes
// them in each format, and redacts what is read of that.
func TestRedactedSessions(t *testing.T) {
	reg := all.Registry()
	for _, route := range []string{"claude-code-to-canonical", "codex-to-canonical", "cursor-chat-to-canonical", "cursor-ide-to-canonical", "cursor-sdk-to-canonical", "stream-json-to-canonical"} {
		dir := t.TempDir()
		src := plantedText(t, dir+"/planted", route)
		if survivor([]byte(placedText(t, src))) == "" {
			t.Fatal("nothing was planted")
		}
		o := &Redaction{Dirs: []string{src}}
		for _, to := range []string{"canonical", "claude-code", "cursor-chat", "cursor-sdk", "cursor-ndjson"} {
			what := route + " to " + to
			plain, out, read := filepath.Join(dir, "plain", to), filepath.Join(dir, "out", to), filepath.Join(dir, "read", to)
			rep, err := Convert(t.Context(), reg, src, out, Options{To: to, Redact: o, Allow: loss.Unreadable, State: NoState})
			if err != nil || rep.Sessions(Placed) == 0 || rep.Sessions(Failed) > 0 || len(rep.Redacted) < 3 {
				t.Errorf("%s: %v, redacted %+v, %s", what, err, rep.Redacted, fates(rep))
				for _, s := range rep.Stores {
					for _, one := range s.Sessions {
						if one.Error != nil {
							t.Errorf("%s: %+v", one.ID, one.Error)
						}
					}
				}
				continue
			}
			survivors(t, what, out)
			if _, err := Convert(t.Context(), reg, src, plain, Options{To: to, Allow: loss.Unreadable, State: NoState}); err != nil {
				t.Fatal(what, err)
			}
			rep, err = Convert(t.Context(), reg, plain, read, Options{To: "canonical", Redact: o, Allow: loss.Unreadable, State: NoState})
			if err != nil || rep.Sessions(Placed) == 0 || len(rep.Redacted) < 3 {
				t.Errorf("%s and back: %v, redacted %+v", what, err, rep.Redacted)
				continue
			}
			survivors(t, what+" and back", read)
		}
	}
}

func placedText(t *testing.T, dir string) string {
	var all strings.Builder
	for _, text := range placed(t, dir) {
		all.WriteString(text)
	}
	return all.String()
}

// TestRedactAgain: what was redacted stays the same if it is redacted again, whatever the
// number of workers; with a key, all placeholders are the same in every store.
func TestRedactAgain(t *testing.T) {
	dir := t.TempDir()
	src := plantedText(t, dir+"/planted", "cursor-chat-to-canonical")
	key := write(t, dir+"/key", strings.Repeat("k", 32))
	if err := os.Chmod(key, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, o := range []Redaction{{}, {Paths: true}, {Key: key}} {
		var first map[string]string
		for jobs := range 4 {
			out := fmt.Sprintf("%s/%t-%t-%d", dir, o.Paths, o.Key != "", jobs)
			for _, step := range []string{src, out + "/once"} {
				to := map[string]string{src: out + "/once", out + "/once": out + "/twice"}[step]
				if _, err := Convert(t.Context(), all.Registry(), step, to, Options{To: "canonical", Redact: &o, Jobs: jobs + 1, Allow: loss.Unreadable, State: NoState}); err != nil {
					t.Fatal(err)
				}
				got := placed(t, to)
				if first == nil {
					first = got
				}
				for name, text := range got {
					if text != first[name] {
						t.Fatalf("%s with %d jobs is another text", to, jobs+1)
					}
				}
			}
		}
		if (o.Key == "") != strings.Contains(fmt.Sprint(first), "redacted-github-pat-1 ") {
			t.Errorf("%+v: other placeholders", o)
		}
	}
}

// TestRedactedReasoning loses its signature, which is a loss; other reasoning keeps it.
func TestRedactedReasoning(t *testing.T) {
	dir, secret := t.TempDir(), secrets()[0]
	src := write(t, dir+"/in.jsonl", `{"type":"session","version":1,"id":"a","agent":"claude-code"}
{"type":"message","id":"m1","role":"assistant","parts":[{"type":"thinking","text":"say `+secret+`","signature":"c2lnbmVk"},{"type":"thinking","text":"say no","signature":"c2lnbmVk"}]}
`)
	rep, err := Convert(t.Context(), all.Registry(), src, dir+"/out.jsonl", Options{To: "canonical", Redact: &Redaction{}})
	if err != nil {
		t.Fatal(err)
	}
	one := rep.Stores[0].Sessions[0]
	if len(one.Losses) != 1 || one.Losses[0].Code != loss.ThinkingEdited || one.Losses[0].Count != 1 {
		t.Errorf("%+v", one.Losses)
	}
	if len(one.Redacted) != 1 || one.Redacted[0].Places != 1 || !slices.Equal(one.Redacted[0].Messages, []string{"m1"}) {
		t.Errorf("%+v", one.Redacted)
	}
	text, err := os.ReadFile(dir + "/out.jsonl")
	if err != nil || strings.Count(string(text), "c2lnbmVk") != 1 || !strings.Contains(string(text), `"say redacted-github-pat-1"}`) {
		t.Errorf("%v: %s", err, text)
	}
}
