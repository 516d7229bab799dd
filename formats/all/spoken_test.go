package all_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rehome/formats/formatstest/graphgen"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/testdata/ide"
)

// spoken finds the places in JSON where a person, a model or a tool can speak.
var spoken = regexp.MustCompile(`"(?:text|content|thinking|message|prompt|summary|result|richText|delta|output|last_agent_message|rawText|stdout|lastPrompt)"\s*:\s*"((?:[^"\\]|\\.)+)"`)

// speaker finds who speaks in a line.
var speaker = regexp.MustCompile(`"role":\s*"(user|assistant)"|"type":"(agent_message|AgentMessage|agent_reasoning|Reasoning|reasoning|task_complete|user_message|UserMessage)"`)

// unspoken are lines with such a place in which nobody speaks.
var unspoken = regexp.MustCompile(`"type":"turn_context"|"subtype":"compact_boundary"`)

// mostRaw is in how many places of each format a sentence is kept as extra data alone. It may
// only fall.
var mostRaw = map[string]int{"codex": 13, "claude-code": 3, "cursor-transcript": 2, "cursor-ndjson": 1, "stream-json": 32, "cursor-ide": 13}

// plantings are the sentences in the files of a store.
type plantings struct {
	format, from string
	files        map[string]string // as they were
	places       []planting
}

type planting struct {
	file     string
	line     int
	from, to int
	words    string
	who      string
}

func plant(format, from string, files map[string]string) *plantings {
	p := &plantings{format: format, from: from, files: files}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text := files[name]
		for _, m := range spoken.FindAllStringSubmatchIndex(text, -1) {
			begin := strings.LastIndexByte(text[:m[0]], '\n') + 1
			line, _, _ := strings.Cut(text[begin:], "\n")
			if unspoken.MatchString(line) {
				continue
			}
			at := planting{file: name, line: strings.Count(text[:begin], "\n") + 1, from: m[2], to: m[3], words: fmt.Sprintf("Planted sentence %d of many.", len(p.places))}
			if s := speaker.FindStringSubmatch(line); s != nil {
				at.who = "assistant"
				if strings.HasPrefix(strings.ToLower(s[1]+s[2]), "user") {
					at.who = "user"
				}
			}
			p.places = append(p.places, at)
		}
	}
	return p
}

// planted returns the files with the sentences of some places.
func (p *plantings) planted(here func(i int) bool) map[string]string {
	out := maps.Clone(p.files)
	for i, at := range slices.Backward(p.places) {
		if here(i) {
			out[at.file] = out[at.file][:at.from] + at.words + out[at.file][at.to:]
		}
	}
	return out
}

// found says where a sentence is in what a store was read as.
type found struct{ part, raw bool }

// look looks for the sentence of a place. It fails if somebody else speaks it.
func (p *plantings) look(t *testing.T, o *outcome, at planting) (f found) {
	for _, s := range o.sessions {
		for _, line := range s.lines {
			if !strings.Contains(line, at.words) {
				continue
			}
			var m struct {
				Type, Role string
				Parts      []map[string]json.RawMessage
			}
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatal(err)
			}
			f.raw = true
			for _, part := range m.Parts {
				delete(part, "extras")
				b, err := json.Marshal(part)
				if err != nil {
					t.Fatal(err)
				}
				if string(part["type"]) == `"opaque"` || !strings.Contains(string(b), at.words) {
					continue
				}
				f.part = true
				if kind := string(part["type"]); at.who != "" && m.Role != at.who && (kind == `"text"` || kind == `"thinking"`) {
					t.Errorf("%s: %s:%d: %q is said by %s, not by %s", p.format, at.file, at.line, at.words, m.Role, at.who)
				}
			}
		}
	}
	return f
}

// named reports whether a loss names the line of a place.
func named(o *outcome, at planting) bool {
	return slices.ContainsFunc(o.notes, func(n loss.Loss) bool {
		where := n.At.String()
		return strings.HasSuffix(where, fmt.Sprintf("%s:%d", filepath.Base(at.file), at.line)) || n.Code == loss.DeletedRemains
	})
}

// arrive requires of each sentence that it arrives or is named, in which all are planted, and
// then one alone: what it repeats is there unchanged. It returns how many are extra data alone.
func (p *plantings) arrive(t *testing.T, write func(files map[string]string) string) (raw int) {
	all := decodeStore(t, p.format, write(p.planted(func(int) bool { return true })), session.Selection{History: true})
	for i, at := range p.places {
		switch f := p.look(t, all, at); {
		case f.part, !f.raw && named(all, at):
		case f.raw:
			raw++
		default:
			t.Errorf("%s: %s:%d: %q is lost: %.200s", p.format, at.file, at.line, at.words, p.around(at))
		}
		if p.format == "cursor-ide" {
			continue
		}
		one := decodeStore(t, p.format, write(p.planted(func(n int) bool { return n == i })), session.Selection{History: true})
		if f := p.look(t, one, at); !f.part && !f.raw && !named(one, at) {
			t.Errorf("%s: %s:%d: %q alone is lost: %.200s", p.format, at.file, at.line, at.words, p.around(at))
		}
	}
	return raw
}

func (p *plantings) around(at planting) string { return p.files[at.file][max(0, at.from-150):at.to] }

// TestSpoken plants a sentence of its own into each place of the fixtures where somebody can
// speak. Whatever is read of a store as older, repeated or replaced: each sentence is in what
// is read with --history, said by whom it was said, or a loss names its line.
func TestSpoken(t *testing.T) {
	places, raw := 0, map[string]int{}
	for _, c := range [][2]string{
		{"codex", "codex/home"}, {"codex", "codex/strange"}, {"claude-code", "claude/config"}, {"claude-code", "claude/shapes"},
		{"cursor-transcript", "transcript/projects/home-ann-app/agent-transcripts"}, {"cursor-ndjson", "sdk/e2e-jsonl"}, {"stream-json", "stream"},
	} {
		files := map[string]string{}
		from := filepath.Join("../../testdata", c[1])
		if err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(path, ".md") {
				return err
			}
			b, err := os.ReadFile(path)
			rel, _ := filepath.Rel(from, path)
			files[rel] = string(b)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		stores := []map[string]string{files}
		if c[0] == "stream-json" {
			stores = nil
			for _, name := range slices.Sorted(maps.Keys(files)) {
				stores = append(stores, map[string]string{name: files[name]})
			}
		}
		for _, files := range stores {
			p := plant(c[0], c[1], files)
			places += len(p.places)
			dir := filepath.Join(t.TempDir(), filepath.Base(c[1]))
			raw[c[0]] += p.arrive(t, func(files map[string]string) string {
				for name, text := range files {
					path := filepath.Join(dir, name)
					if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
						t.Fatal(err)
					}
					if old, err := os.ReadFile(path); err == nil && string(old) == text {
						continue
					}
					if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
						t.Fatal(err)
					}
				}
				if c[0] == "stream-json" {
					return filepath.Join(dir, slices.Sorted(maps.Keys(files))[0])
				}
				return dir
			})
		}
	}
	scripts, err := fs.Glob(ide.Cases, "cases/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range scripts {
		b, err := fs.ReadFile(ide.Cases, script)
		if err != nil {
			t.Fatal(err)
		}
		p := plant("cursor-ide", script, map[string]string{script: string(b)})
		places += len(p.places)
		raw["cursor-ide"] += p.arrive(t, func(files map[string]string) string {
			dir := t.TempDir()
			if err := ide.Build(dir, files[script]); err != nil {
				t.Fatalf("%s: %v", script, err)
			}
			return dir
		})
	}
	for format, n := range raw {
		if n > mostRaw[format] {
			t.Errorf("%s: %d sentences are only extra data, and %d may be", format, n, mostRaw[format])
		}
	}
	t.Logf("%d places; as extra data alone: %v", places, raw)
}

// TestSpokenInBlobs is the same for states of agents: what nobody refers to arrives, and
// nothing is named that the states say.
func TestSpokenInBlobs(t *testing.T) {
	for shape := range graphgen.Shapes {
		for seed := range uint64(3) {
			p := graphgen.New(seed, shape)
			for format, path := range map[string]string{
				"cursor-chat": chatStore(t, p, p.Graph(), graphgen.Odd{}), "cursor-sdk": sdkStore(t, p, p.Graph(), graphgen.Odd{}).Project, "cursor-ndjson": lineStore(t, p, p.Graph()),
			} {
				o := decodeStore(t, format, path, session.Selection{History: true})
				if !strings.Contains(o.text(), "nobody refers to this") {
					t.Errorf("%s, %v, %d: what nobody refers to is lost", format, shape, seed)
				}
				for _, n := range o.notes {
					if n.Code == loss.CopyDiffers && shape != graphgen.SpineOnly || n.Code == loss.StrayBlob { // steps lack what the model called a tool with
						t.Errorf("%s, %v, %d: %s at %s", format, shape, seed, n.Code, n.At.String())
					}
				}
			}
		}
	}
}
