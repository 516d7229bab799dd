package formatstest_test

import (
	"bytes"
	"cmp"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rehome/formats/all"
	"rehome/formats/formatstest/leaves"
)

// stores says how the stores of a format are walked and changed.
type stores struct {
	walk    leaves.Walk
	rewrite leaves.Rewrite
	folder  string // of what is declared, if it has not the name of the format
}

// walks returns that of each format. A format that is not there has no law of leaves yet.
func walks() map[string]stores {
	return map[string]stores{
		"claude-code":       {leaves.Lines(), leaves.RewriteLines, ""},
		"cursor-ide":        {leaves.IDE(), leaves.RewriteIDE, ""},
		"codex":             {rollouts, rewriteCodex, ""},
		"cursor-chat":       {leaves.Chat(), leaves.RewriteAgentStore(leaves.Chat()), ""},
		"cursor-ndjson":     {leaves.AgentLines(), leaves.RewriteAgentLines, ""},
		"cursor-sdk":        {leaves.AgentStore(), leaves.RewriteAgentStore(leaves.AgentStore()), ""},
		"stream-json":       {stream, leaves.RewriteLines, ""},
		"cursor-transcript": {transcriptsAndTexts, leaves.RewriteLines, ""},
		"canonical":         {canonical, leaves.RewriteLines, ""},
		"opencode-export":   {exported, leaves.RewriteLines, "opencode/exports"},
		"copilot-json":      {listedIn("chatMessages"), leaves.RewriteLines, "copilot/history"},
		"gemini-json":       {listedIn("messages"), leaves.RewriteLines, "gemini/json"},
		"opencode-json":     {stored, leaves.RewriteFiles(".json"), "opencode/storage"},
		"opencode":          {leaves.Tables(opencode), leaves.RewriteTables(opencode, "data"), ""},
	}
}

// opencode are the tables of OpenCode, with the columns that say of which session a row is.
var opencode = map[string]string{"session": "id", "message": "session_id", "part": "session_id", "todo": "session_id"}

// exported walks files that OpenCode exports: each is one value.
func exported(t testing.TB, path string, kinds []string) iter.Seq[leaves.Record] {
	return func(yield func(leaves.Record) bool) {
		for r := range leaves.Lines()(t, path, kinds) {
			if r.Group, r.Wide = "", true; !yield(r) {
				return
			}
		}
	}
}

// listedIn walks a file that is an object with a list of messages.
func listedIn(list string) leaves.Walk {
	return func(t testing.TB, file string, _ []string) iter.Seq[leaves.Record] {
		return func(yield func(leaves.Record) bool) {
			b, err := os.ReadFile(file)
			doc, bad := leaves.Parse(b)
			if err = cmp.Or(err, bad); err != nil {
				t.Fatal(err)
			}
			at := slices.Index(doc.Names, list)
			items := doc.Items[at].Items
			doc.Names, doc.Items = slices.Delete(doc.Names, at, at+1), slices.Delete(doc.Items, at, at+1)
			for n, one := range append([]*leaves.Node{doc}, items...) {
				r := leaves.Record{At: filepath.Base(file), Kind: "-", Leaves: one.Leaves(nil, ""), Wide: true}
				if kind := cmp.Or(one.Member("role"), one.Member("type")); kind != nil {
					r.At, r.Kind = r.At+"/"+list+"#"+strconv.Itoa(n), kind.Value
				}
				if !yield(r) {
					return
				}
			}
		}
	}
}

// stored walks the folder in which OpenCode kept its sessions before it had a database.
func stored(t testing.TB, dir string, kinds []string) iter.Seq[leaves.Record] {
	return func(yield func(leaves.Record) bool) {
		for r := range leaves.Files(".json")(t, dir, kinds) {
			r.At = strings.TrimSuffix(r.At, ":1")
			top, _, _ := strings.Cut(r.At, "/")
			if !slices.Contains([]string{"session", "message", "part"}, top) {
				continue
			}
			r.Group = strings.TrimSuffix(path.Base(r.At), ".json")
			for _, l := range r.Leaves {
				if l.Path == "sessionID" {
					r.Group = l.Value
				}
			}
			if !yield(r) {
				return
			}
		}
	}
}

// leavesOf returns the law of a format, nil if it has none.
func (s *sharedLaws) leavesOf(t *testing.T, format string) *leaves.Law {
	t.Helper()
	of, ok := walks()[format]
	if f := all.Registry().Lookup(format); !ok && f.Family == "lines" {
		of, ok = stores{leaves.Lines(), leaves.RewriteLines, ""}, true
	}
	if !ok {
		return nil
	}
	folder := cmp.Or(of.folder, strings.ReplaceAll(format, "-", ""))
	law := leaves.NewLaw(t, of.walk, declaredIn(t, folder), s.of[format])
	law.Rewrite = of.rewrite
	return law
}

func declaredIn(t *testing.T, folder string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(folder), "leaves.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// canonical walks canonical lines, whose messages name the records of the store that they were
// converted from.
func canonical(t testing.TB, path string, kinds []string) iter.Seq[leaves.Record] {
	return func(yield func(leaves.Record) bool) {
		for r := range leaves.Lines(named)(t, path, kinds) {
			if r.Group, r.Wide = "", true; !yield(r) {
				return
			}
		}
	}
}

// named makes members of extras, which canonical lines have as a list of names and values.
func named(n *leaves.Node) {
	for i, item := range n.Items {
		if named(item); n.Kind != '{' || n.Names[i] != "extras" || item.Kind != '[' {
			continue
		}
		for _, x := range item.Items {
			if name, raw := x.Member("name"), x.Member("raw"); name != nil && raw != nil {
				x.Names, x.Items = append(x.Names, name.Value), append(x.Items, raw)
				name.Kind = 'n'
				x.Items[slices.Index(x.Names, "raw")] = name
			}
		}
	}
}

// stream walks the lines that the Cursor CLI prints. With --stream-partial-output it tells each text
// in pieces, which have a time and are of no model call, and again as a whole; the result tells all
// texts of a run once more. After a retry, the model can tell all again.
func stream(t testing.TB, path string, kinds []string) iter.Seq[leaves.Record] {
	list := slices.Collect(leaves.Lines()(t, path, kinds))
	has := func(r leaves.Record, path string) bool {
		return slices.ContainsFunc(r.Leaves, func(l leaves.Leaf) bool { return l.Path == path })
	}
	answer := func(r leaves.Record) bool { return strings.HasPrefix(r.Kind, "assistant ") }
	piece := func(r leaves.Record) bool { return answer(r) && has(r, "timestamp_ms") && !has(r, "model_call_id") }
	pieces := slices.ContainsFunc(list, piece)
	attempt := ""
	for i := range list {
		switch r := &list[i]; {
		case strings.HasPrefix(r.Kind, "retry starting ") && slices.Contains(r.Leaves, leaves.Leaf{Path: "is_resume", Value: "false"}):
			attempt += "again "
		case piece(*r):
			r.Telling = attempt
		case strings.HasPrefix(r.Kind, "result "):
			r.Telling, r.Wide = "result", true
		case pieces && answer(*r) && has(*r, "model_call_id"):
			r.Telling, r.Wide = "whole"+attempt, true
		case pieces && answer(*r) && !piece(*r):
			r.Telling, r.Wide = r.At, true
		}
	}
	return slices.Values(list)
}

// historyBase is what a fork of Codex says of the file that it begins with.
var historyBase = regexp.MustCompile(`"history_base":{"thread_id":"([^"]*)","end_byte_offset":(\d+)`)

// rewriteCodex rewrites lines. Forks state how many bytes of another file come before them.
func rewriteCodex(t testing.TB, from, dir string, kinds []string, change func(leaves.Doc)) string {
	t.Helper()
	to := leaves.RewriteLines(t, from, dir, kinds, change)
	old, now := map[string][]byte{}, map[string][]byte{}
	for path, into := range map[string]map[string][]byte{from: old, to: now} {
		err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				into[d.Name()], err = os.ReadFile(p)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	err := filepath.WalkDir(to, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		m := historyBase.FindSubmatch(now[d.Name()])
		if m == nil {
			return nil
		}
		for name := range old {
			if end, err := strconv.Atoi(string(m[2])); err == nil && strings.Contains(name, string(m[1])) && end <= len(old[name]) {
				n := 0
				for range bytes.Count(old[name][:end], []byte("\n")) {
					n += bytes.IndexByte(now[name][n:], '\n') + 1
				}
				text := bytes.Replace(now[d.Name()], m[0], bytes.Replace(m[0], m[2], strconv.AppendInt(nil, int64(n), 10), 1), 1)
				return os.WriteFile(p, text, 0o666)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}
