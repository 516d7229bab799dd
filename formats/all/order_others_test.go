package all_test

import (
	"bytes"
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rehome/testdata/ide"
)

// What clients that do not run here hold, by readers that share nothing with the codecs: role,
// kind and words, in order.

// plain is a JSON object. Its methods return zero values for what is not there.
type plain map[string]any

func plainOf(b []byte) (o plain) {
	_ = json.Unmarshal(b, &o)
	return o
}

func (o plain) text(name string) string {
	s, _ := o[name].(string)
	return s
}

func (o plain) sub(name string) plain {
	m, _ := o[name].(map[string]any)
	return m
}

func (o plain) list(name string) (out []plain) {
	list, _ := o[name].([]any)
	for _, v := range list {
		m, _ := v.(map[string]any)
		out = append(out, m)
	}
	return out
}

// words returns the text of a message's content.
func (o plain) words() (out string) {
	out = o.sub("message").text("content") // as some versions write it
	for _, part := range o.sub("message").list("content") {
		out += part.text("text")
	}
	return out
}

// saying is a text, a thought or a call, unless it has no words.
func saying(role, kind, words string) []item {
	if strings.TrimSpace(words) == "" {
		return nil
	}
	return []item{{Role: role, Kind: kind, Text: brief(words).(string)}}
}

// typedPattern is what a transcript keeps around a prompt: of the tags, only these two.
var typedPattern = regexp.MustCompile(`(?s)^(?:<timestamp>[^<]*</timestamp>\s*)?<user_query>\n?(.*?)\n?</user_query>\s*$`)

// streamItems reads a capture of stream-json, by session. A fragment has a time and no call of
// the model; what comes after the fragments repeats them, unless the run was cut off.
func streamItems(b []byte) map[string][]item {
	out, fragments, thoughts, calls := map[string][]item{}, map[string]string{}, map[string]string{}, map[string]bool{}
	for line := range bytes.Lines(b) {
		o := plainOf(line)
		id, kind := o.text("session_id"), o.text("type")+"/"+o.text("subtype")
		add := func(items ...item) { out[id] = append(out[id], items...) }
		if kind == "user/" {
			add(saying("assistant", "text", fragments[id])...)
			delete(fragments, id)
		}
		call := item{Role: "assistant", Kind: "call", ID: o.text("call_id")}
		switch {
		case kind == "user/":
			add(saying("user", "text", o.words())...)
		case kind == "assistant/" && o["timestamp_ms"] != nil && o["model_call_id"] == nil:
			fragments[id] += o.words()
		case kind == "assistant/":
			add(saying("assistant", "text", o.words())...)
			delete(fragments, id)
		case kind == "thinking/delta":
			thoughts[id] += o.text("text")
		case kind == "thinking/completed":
			add(saying("assistant", "thinking", thoughts[id])...)
			delete(thoughts, id)
		case strings.HasPrefix(kind, "tool_call/"):
			if !calls[call.ID] {
				add(call)
			}
			if calls[call.ID] = true; kind == "tool_call/completed" {
				add(item{Role: "tool", Kind: "result", ID: call.ID})
			}
		}
	}
	for id, words := range fragments {
		out[id] = append(out[id], saying("assistant", "text", words)...)
	}
	return out
}

// transcriptItems reads a transcript. Calls have no ids, and their results are not there;
// thoughts that the provider withheld are a mark.
func transcriptItems(b []byte) (out []item) {
	for line := range bytes.Lines(b) {
		o := plainOf(line)
		words := strings.TrimSuffix(strings.TrimSpace(o.words()), "[REDACTED]")
		switch o.text("role") {
		case "user":
			words = typedPattern.ReplaceAllString(words, "$1")
		case "assistant", "tool":
		default:
			continue
		}
		out = append(out, saying(o.text("role"), "text", words)...)
		for _, part := range o.sub("message").list("content") {
			if part.text("type") == "tool_use" {
				out = append(out, item{Role: "assistant", Kind: "call", Name: part.text("name")})
			}
		}
	}
	return out
}

// ideItems reads the bubbles of each composer in the databases of a user dir, in the order of its
// heads: those of a state that has been summarized from the first that the model is still sent.
func ideItems(t *testing.T, dir string) map[string][]item {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*Storage", "state.vscdb"))
	more, err2 := filepath.Glob(filepath.Join(dir, "*Storage", "*", "state.vscdb"))
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	out := map[string][]item{}
	for _, file := range append(files, more...) {
		values := ideValues(t, file)
		for key, composer := range values {
			if id, is := strings.CutPrefix(key, "composerData:"); is && composer.lists() {
				out[id] = composerItems(id, composer, values)
			}
		}
		for _, composer := range values["composer.composerData"].list("allComposers") {
			if id := composer.text("composerId"); composer.lists() {
				out[id] = composerItems(id, composer, values)
			}
		}
	}
	return out
}

// ideValues reads the values of a database, by their keys.
func ideValues(t *testing.T, file string) map[string]plain {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(file)+"?mode=ro&immutable=1")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	values := map[string]plain{}
	for _, table := range []string{"ItemTable", "cursorDiskKV"} {
		rows, err := db.Query("SELECT key, value FROM " + table + " WHERE value IS NOT NULL")
		if err != nil && strings.Contains(err.Error(), "no such table") {
			continue // not all have both
		} else if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var key, value []byte
			if err := rows.Scan(&key, &value); err != nil {
				t.Fatal(err)
			}
			values[string(key)] = plainOf(value)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return values
}

// lists reports whether a composer says which bubbles it has.
func (o plain) lists() bool {
	return o["conversation"] != nil || len(o.list("fullConversationHeadersOnly")) > 0
}

// composerItems reads the bubbles of a composer: those in it, which have their calls apart, or
// those that its heads name.
func composerItems(id string, composer plain, values map[string]plain) (out []item) {
	calls := plain{}
	for _, one := range composer.list("capabilities") {
		maps.Copy(calls, plainOf([]byte(one.sub("data").text("bubbleDataMap"))))
	}
	for _, b := range composer.list("conversation") {
		if call := calls[b.text("bubbleId")]; call != nil {
			b["toolFormerData"] = call
		}
		out = append(out, bubbleItems(b)...)
	}
	first := composer.sub("latestConversationSummary").text("clientShouldStartSendingFromInclusiveBubbleId")
	for _, head := range composer.list("fullConversationHeadersOnly") {
		b := values["bubbleId:"+id+":"+head.text("bubbleId")]
		if b == nil {
			b = composer.sub("conversationMap").sub(head.text("bubbleId"))
		}
		if head.text("bubbleId") == first {
			out = nil // of what is before, the model is sent a summary
		}
		out = append(out, bubbleItems(b)...)
	}
	return out
}

// bubbleItems returns what a bubble says: a prompt, or thoughts, an answer and a call.
func bubbleItems(b plain) (out []item) {
	if b["type"] == 1.0 {
		var rich any
		_ = json.Unmarshal([]byte(b.text("richText")), &rich)
		return saying("user", "text", cmp.Or(b.text("text"), typed(rich)))
	}
	for _, thought := range append([]plain{{"text": b["thinking"]}, b.sub("thinking")}, b.list("allThinkingBlocks")...) {
		out = append(out, saying("assistant", "thinking", thought.text("text")+thought.text("redactedThinking"))...)
	}
	out = append(out, saying("assistant", "text", b.text("text"))...)
	if call := b.sub("toolFormerData"); call != nil {
		out = append(out, item{Role: "assistant", Kind: "call", ID: call.text("toolCallId"), Name: cmp.Or(call.text("name"), "unknown")})
	}
	for _, call := range b.list("toolResults") { // as versions of 2025 write them
		out = append(out, item{Role: "assistant", Kind: "call", ID: call.text("toolCallId"), Name: call.text("toolName")})
	}
	return out
}

// typed returns the words in a document of an editor.
func typed(v any) (out string) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			out += typed(one)
		}
	case map[string]any:
		out, _ = v["text"].(string)
		return out + typed(v["root"]) + typed(v["content"]) + typed(v["children"])
	}
	return out
}

// TestOrderOthers: the live messages of clients that do not run here are what a second reader
// finds in their stores, in the same order.
func TestOrderOthers(t *testing.T) {
	compare := func(t *testing.T, format, source string, read map[string][]item, only func(item) item) (compared int) {
		t.Helper()
		for _, id := range slices.Sorted(maps.Keys(read)) {
			var got []item
			for _, m := range messagesOf(t, request{Format: format, Source: source, Session: id}, false) {
				got = append(got, itemsOf(m)...)
			}
			ownIDs(read[id], got)
			if bad := disorder(resultsLast(read[id], only), resultsLast(got, only)); bad != "" {
				t.Errorf("%s %s: %s", source, id, bad)
			}
			if len(got) > 0 && disorder(resultsLast(read[id], only), resultsLast(got[1:], only)) == "" && worded(got[0]) {
				t.Errorf("%s %s: what is missing is not found", source, id)
			}
		}
		return len(read)
	}
	open := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join("../../testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for format, one := range map[string]struct {
		least int
		run   func(t *testing.T) (compared int)
	}{
		"stream-json": {13, func(t *testing.T) (compared int) {
			for _, name := range []string{"plain", "parallel", "partial", "tools", "outcomes", "background", "runs", "sessions", "legacy", "noise", "questions", "failed"} {
				source := "stream/" + name + ".jsonl"
				compared += compare(t, "stream-json", source, streamItems(open(source)), func(i item) item { return item{Role: i.Role, Kind: i.Kind, Text: i.Text, ID: i.ID} })
			}
			return compared
		}},
		"cursor-transcript": {3, func(t *testing.T) (compared int) {
			transcripts, err := filepath.Glob("../../testdata/transcript/projects/*/agent-transcripts/*/*.jsonl")
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range transcripts {
				source, id := strings.TrimPrefix(filepath.ToSlash(name), "../../testdata/"), strings.TrimSuffix(filepath.Base(name), ".jsonl")
				compared += compare(t, "cursor-transcript", source, map[string][]item{id: transcriptItems(open(source))}, func(i item) item {
					return item{Role: i.Role, Kind: i.Kind, Text: i.Text, Name: i.Name}
				})
			}
			return compared
		}},
		"cursor-ide": {12, func(t *testing.T) (compared int) {
			for _, name := range []string{
				"bubbles", "heads", "table", "tools", "global-json", "compacted", "subagents", "history", "child-first", "inline",
			} {
				dir := filepath.Join(t.TempDir(), name)
				if err := ide.Build(dir, string(open("ide/cases/"+name+".sql"))); err != nil {
					t.Fatal(err)
				}
				compared += compare(t, "cursor-ide", dir, ideItems(t, dir), ideItem)
			}
			return compared
		}},
	} {
		t.Run(format, func(t *testing.T) {
			if n := one.run(t); n < one.least {
				t.Errorf("%d sessions compared, want %d", n, one.least)
			}
		})
	}
}

// ownIDs takes away the ids of calls that stores do not have, and those of calls after another one
// with the same id: these get ids of rehome's.
func ownIDs(read, got []item) {
	known := map[string]bool{}
	for n := range read {
		if i := &read[n]; i.Kind == "call" && known[i.ID] {
			i.ID = ""
		} else if i.Kind == "call" {
			known[i.ID] = true
		}
	}
	for n := range got {
		if i := &got[n]; i.Kind == "call" && !known[i.ID] {
			i.ID = ""
		}
	}
}

// ideItem is what the tiny reader of the IDE knows of an item, too.
func ideItem(i item) item {
	if i.Kind == "result" {
		return item{}
	}
	return item{Role: i.Role, Kind: i.Kind, Text: i.Text, ID: i.ID, Name: i.Name}
}

// resultsLast returns what was said and called, in order, then the results by their calls: those
// of calls at the same time come as they come.
func resultsLast(items []item, only func(item) item) []item {
	var out, results []item
	for _, i := range items {
		switch i = only(i); {
		case i.Kind == "result":
			results = append(results, i)
		case worded(i):
			out = append(out, i)
		}
	}
	slices.SortStableFunc(results, func(a, b item) int { return strings.Compare(a.ID, b.ID) })
	return append(out, results...)
}

// worded reports whether an item is a call, or has words that the user or the model said.
func worded(i item) bool {
	words := i.Kind == "text" || i.Kind == "thinking"
	return i.Role != "system" && (i.Kind == "call" || words && strings.TrimSpace(i.Text) != "")
}
