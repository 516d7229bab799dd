package documents

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/internal/rawjson"
)

// split returns the items of a file as a server would: in its order, and not as they came.
func split(t *testing.T, set Set, file string) (items []Item, lines int64) {
	t.Helper()
	lines, err := Split(set, strings.NewReader(file), func(it *Item) error {
		c := *it
		c.Raw, c.Row.Doc, c.Row.Data = bytes.Clone(it.Raw), bytes.Clone(it.Row.Doc), bytes.Clone(it.Row.Data)
		c.Row.Agent, c.Row.Run, c.Row.Blob, c.Row.Idem = bytes.Clone(it.Row.Agent), bytes.Clone(it.Row.Run), bytes.Clone(it.Row.Blob), bytes.Clone(it.Row.Idem)
		items = append(items, c)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	rand.Shuffle(len(items), func(i, k int) { items[i], items[k] = items[k], items[i] })
	return sorted(set, items), lines
}

func sorted(set Set, items []Item) []Item {
	slices.SortFunc(items, func(a, b Item) int {
		if (a.Kind == Tail) != (b.Kind == Tail) {
			return int(a.Kind) - int(b.Kind)
		}
		if a.Ord != b.Ord {
			return int(a.Ord - b.Ord)
		}
		return strings.Compare(LineName(set, &a), LineName(set, &b))
	})
	return items
}

func join(t *testing.T, set Set, items []Item) string {
	t.Helper()
	var out bytes.Buffer
	j := NewJoiner(set, &out)
	for i := range items {
		if err := j.Put(&items[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func documents(items []Item) (n int) {
	for _, it := range items {
		if it.Kind == Document {
			n++
		}
	}
	return n
}

const (
	blob  = `{"agentId":"a","blobId":"00ff","dataBase64":"aGVsbG8="}`
	event = `{"runId":"r","seq":%s,"payload":{"seq":9,"x":[{"runId":1}]}}`
)

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		set       Set
		file      string
		documents int
	}{
		{Agents, "", 0},
		{Agents, "\n", 0},
		{Agents, "\n\n \n\r\n", 0},
		{Agents, `{"agentId":"a"}`, 1}, // no line feed
		{Agents, "{\"agentId\":\"a\"}\n", 1},
		{Agents, "{\"agentId\":\"a\"}\r\n{\"agentId\":\"b\"}\r\n", 2},
		{Agents, " \t{\"agentId\" : \"a\"} \n", 1},
		{Agents, "{\"agentId\":\"a\"}\n{\"agentId\":\"b", 1}, // torn
		{Agents, "{\"agentId\":\"a\"}\n\n", 1},
		{Agents, "\ufeff{\"agentId\":\"a\"}\n{\"agentId\":\"b\"}\n", 1},
		{Agents, "{\"agentId\":\"a\",\"n\":1}\n{\"agentId\":\"a\",\"n\":2}\n", 1},
		{Agents, `{"agentId":"a","agentId":"b"}` + "\n" + `{"agentId":"a"}` + "\n" + `{"agentId":"b"}` + "\n", 2}, // the last member counts
		{Agents, `{"\u0061gentId":"\u00e9"}` + "\n" + `{"agentId":"é"}` + "\n", 1},
		{Agents, `{"agentId":"\ud83d\ude00"}` + "\n" + `{"agentId":"😀"}` + "\n", 1},
		{Agents, `{"agentId":"\ud83d"}` + "\n" + `{"agentId":"\ude00"}` + "\n" + `{"agentId":"\ud83dx"}` + "\n", 0},
		{Agents, `{"agentId":"\ud83d\u0041"}` + "\n", 0},
		{Agents, `{"agentId":"a\u0000b"}` + "\n" + `{"agentId":"c","cwd":"\u0000","note":"\u0000\ud800"}` + "\n", 1},
		{Agents, "{\"agentId\":\"\xff\"}\n{\"agentId\":\"a\",\"x\":\"\xff\"}\n", 0},
		{Agents, "null\n1\n\"a\"\n[]\n[{\"agentId\":\"a\"}]\n{}\n{\"agentId\":1}\n{\"agentId\":null}\n{\"x\":{\"agentId\":\"a\"}}\n", 0},
		{Agents, `{"agentId":""}` + "\n" + `{"agentId":"'; drop table agents; --"}` + "\n" + `{"agentId":"\"; drop"}` + "\n", 3},
		{Agents, `{"agentId":"` + strings.Repeat("x", maxID) + `"}` + "\n" + `{"agentId":"` + strings.Repeat("x", maxID+1) + `"}` + "\n", 1},
		{Agents, `{"agentId":"a","x":` + strings.Repeat("[", rawjson.MaxDepth-1) + strings.Repeat("]", rawjson.MaxDepth-1) + "}\n", 1},
		{Agents, `{"agentId":"a","x":` + strings.Repeat("[", rawjson.MaxDepth) + strings.Repeat("]", rawjson.MaxDepth) + "}\n", 0},
		{Agents, `{"agentId":"a","x":1.0,"y":123456789012345678901234567890,"x":-0,"updatedAt":1e999}` + "\n", 1},
		{Runs, `{"agentId":"a","runId":"r","turnNumber":1}` + "\n" + `{"agentId":"a","runId":"s","turnNumber":1.0}` + "\n" + `{"agentId":"b","runId":"r","turnNumber":1}` + "\n", 2},
		{Runs, `{"agentId":"a","runId":"r","turnNumber":0}` + "\n" + `{"agentId":"a","runId":"s","turnNumber":-0}` + "\n", 1},
		{Runs, `{"agentId":"a","runId":"r"}` + "\n" + `{"agentId":"a","runId":"s","turnNumber":"1"}` + "\n" + `{"agentId":"a"}` + "\n", 2},
		{Events, fmt.Sprintf(event+"\n"+event+"\n"+event+"\n", "1", "2", "1.0"), 2},
		{Events, fmt.Sprintf(event+"\n"+event+"\n"+event+"\n"+event+"\n", "3", "1", "-1", "2"), 4}, // in no order
		{Events, fmt.Sprintf(event+"\n"+event+"\n"+event+"\n"+event+"\n", `"1"`, "0.5", "9007199254740992", "null"), 0},
		{Checkpoints, blob + "\n", 1},
		{Checkpoints, blob, 1},
		{Checkpoints, blob + "\r\n" + strings.Replace(blob, "00ff", "01", 1) + " ", 2},
		{Checkpoints, strings.Replace(blob, "aGVsbG8=", "", 1) + "\n", 1},
		{Checkpoints, strings.Replace(blob, "aGVsbG8=", "aGVsbG8", 1) + "\n", 1},  // unpadded
		{Checkpoints, strings.Replace(blob, "aGVsbG8=", "aGVsbG9=", 1) + "\n", 1}, // bits left over
		{Checkpoints, strings.Replace(blob, "aGVsbG8=", "_-8=", 1) + "\n", 1},     // for URLs
		{Checkpoints, strings.Replace(blob, "aGVsbG8=", "?", 1) + "\n", 0},
		{Checkpoints, strings.Replace(blob, "aGVsbG8=", `aGVs\nbG8=`, 1) + "\n", 0},
		{Checkpoints, strings.Replace(blob, "aGVsbG8=", `aGVs\/G8=`, 1) + "\n", 1},
		{Checkpoints, strings.Replace(blob, "}", `,"more":1}`, 1) + "\n", 1},
		{Checkpoints, `{"blobId":"00ff","agentId":"a","dataBase64":"aGVsbG8="}` + "\n" + blob + "\n", 1},
		{Checkpoints, `{"agentId":"\u001f\"\\\n/é\u007f","blobId":"0","dataBase64":"aGVsbG8="}` + "\n", 1},
	} {
		items, _ := split(t, c.set, c.file)
		if n := documents(items); n != c.documents {
			t.Errorf("%s %q: %d documents, want %d", c.set.File(), c.file, n, c.documents)
		}
		if back := join(t, c.set, items); back != c.file {
			t.Errorf("%s %q: joined to %q", c.set.File(), c.file, back)
		}
	}
}

// Only lines that JSON.stringify would not write are kept a second time.
func TestSpelled(t *testing.T) {
	for file, want := range map[string]int{
		blob: 0, blob + " ": 1, strings.Replace(blob, ",", ", ", 1): 1, strings.Replace(blob, "a", `\u0061`, 2): 1,
		`{"agentId":"\u001f\"\\\n\u0008/é","blobId":"0","dataBase64":""}`: 1, // \b is shorter
		`{"agentId":"\u001f\"\\\n\b/é","blobId":"0","dataBase64":""}`:     0,
	} {
		items, _ := split(t, Checkpoints, file+"\n")
		if len(items) != 1+want {
			t.Errorf("%s: %d items", file, len(items))
		}
	}
}

// A line that is too long for a row comes back in parts, wherever it is.
func TestGiant(t *testing.T) {
	giant := `{"agentId":"g","x":"` + strings.Repeat("0123456789abcdef", 3*maxPart/16) + `"}`
	for _, file := range []string{"{\"agentId\":\"a\"}\n" + giant + "\n{\"agentId\":\"b\"}\n", giant} {
		var items []Item
		s := splitter{set: Agents, longest: 2 * maxPart, seen: map[[16]byte]struct{}{}, emit: func(it *Item) error {
			if len(it.Raw) > maxPart {
				t.Fatalf("a part of %d bytes", len(it.Raw))
			}
			c := *it
			c.Raw, c.Row.Doc = bytes.Clone(it.Raw), bytes.Clone(it.Row.Doc)
			items = append(items, c)
			return nil
		}}
		if err := s.file(strings.NewReader(file)); err != nil || len(items) < 4 {
			t.Fatal(len(items), err)
		}
		if join(t, Agents, items) != file {
			t.Error("the line did not come back")
		}
	}
}

// Many small lines become few items.
func TestBlanks(t *testing.T) {
	file := strings.Repeat("\n", 3*maxPart) + "{\"agentId\":\"a\"}\n"
	items, lines := split(t, Agents, file)
	if len(items) != 4 || lines != 3*maxPart+1 || join(t, Agents, items) != file {
		t.Errorf("%d items, %d lines", len(items), lines)
	}
}

// What clients changed since is neither hidden nor damaged by what rehome kept.
func TestChanged(t *testing.T) {
	doc := func(ord int64, s string) Item { return Item{Kind: Document, Ord: ord, Row: Row{Doc: []byte(s)}} }
	a, b, c := `{"agentId":"a"}`, `{"agentId":"b"}`, `{"agentId":"c"}`
	for name, x := range map[string]struct {
		file   string
		change func([]Item) []Item
		want   string
	}{
		"append to a torn line":     {a + "\n{\"age", func(i []Item) []Item { return append(i, doc(3, c)) }, a + "\n" + c + "\n"},
		"append to a bare line":     {a, func(i []Item) []Item { return append(i, doc(2, c)) }, a + "\n" + c + "\n"},
		"append to a blank line":    {a + "\n\n", func(i []Item) []Item { return append(i, doc(3, c)) }, a + "\n\n" + c + "\n"},
		"append to nothing":         {"", func(i []Item) []Item { return append(i, doc(1, c)) }, c + "\n"},
		"delete before a bare line": {a + "\n" + b, func(i []Item) []Item { return i[1:] }, b},
		"delete a bare line":        {a + "\n" + b, func(i []Item) []Item { return slices.Delete(i, 1, 2) }, a + "\n"},
		"delete before a torn line": {a + "\n{\"age", func(i []Item) []Item { return i[1:] }, "{\"age"},
		"delete between raw lines":  {"\n" + a + "\n\r\n", func(i []Item) []Item { return slices.Delete(i, 1, 2) }, "\n\r\n"},
		"update with line feeds":    {a + "\n", func([]Item) []Item { return []Item{doc(1, "{\n\"agentId\":\"a\"\n}")} }, "{ \"agentId\":\"a\" }\n"},
	} {
		items, lines := split(t, Agents, x.file)
		for _, it := range items {
			if it.Ord > lines {
				t.Errorf("%s: ord %d of %d lines", name, it.Ord, lines)
			}
		}
		if got := join(t, Agents, sorted(Agents, x.change(items))); got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
	items, _ := split(t, Checkpoints, blob+" \n")
	items[1].Row.Data = []byte("other")
	if got := join(t, Checkpoints, items); got != strings.Replace(blob, "aGVsbG8=", "b3RoZXI=", 1)+"\n" {
		t.Errorf("the spelling of other bytes: %q", got)
	}
}

// A server cannot choose where files are written.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"file/../x/00000000", "file//etc/x/00000000", "file/./00000000", "file/", "file", "", "/", "other/x/00000000", "sidecar", "file/agents.ndjson/00000000", "sidecar/x/00000000"} {
		f, err := Create(filepath.Join(dir, "store"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Set(Agents, true, &Digest{}); err != nil {
			t.Fatal(err)
		}
		if err := f.Put(name, []byte("x")); err == nil {
			t.Errorf("%q was written", name)
		}
		if err := f.Close(true); err != nil {
			t.Error(err)
		}
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Errorf("%q: %v", name, left)
		}
	}
}

// Every set takes any bytes, and gives them back.
func FuzzLines(f *testing.F) {
	for set := range Sets {
		files, _ := filepath.Glob("../../../../testdata/sdk/*/*/" + set.File())
		if len(files) == 0 {
			f.Fatal("no fixtures")
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(int(set), string(b))
		}
	}
	f.Add(3, blob+" \n\n"+blob+"\n{")
	f.Add(2, `{"runId":"\ud83d\ude0`+"\n"+`{"runId":"r","seq":1,"idempotencyKey":"k"}`+"\n"+`{"runId":"r","seq":2,"idempotencyKey":"k"}`)
	f.Fuzz(func(t *testing.T, set int, file string) {
		s := Set(uint(set) % uint(Sets))
		items, _ := split(t, s, file)
		if back := join(t, s, items); back != file {
			t.Errorf("%q came back as %q", file, back)
		}
		keys := map[string]bool{}
		for _, it := range items {
			r := &it.Row
			if it.Kind != Document {
				continue
			}
			for _, k := range []string{fmt.Sprintf("%q %q %q %d", r.Agent, r.Run, r.Blob, r.Seq), fmt.Sprintf("turn %q %v %v", r.Agent, r.HasNumber, r.Number), fmt.Sprintf("key %q %q", r.Run, r.Idem)} {
				if strings.HasPrefix(k, "turn") && (s != Runs || !r.HasNumber) || strings.HasPrefix(k, "key") && r.Idem == nil {
					continue
				}
				if keys[k] {
					t.Errorf("two rows with %s", k)
				}
				keys[k] = true
			}
		}
	})
}

// TestEvents compares which events are documents with what a list of all says.
func TestEvents(t *testing.T) {
	for range 2000 {
		var file strings.Builder
		had, want := map[string]bool{}, 0
		for range rand.IntN(30) {
			line := fmt.Sprintf(`{"runId":"r%d","seq":%d}`, rand.IntN(2), rand.IntN(12))
			if file.WriteString(line + "\n"); !had[line] {
				want++
			}
			had[line] = true
		}
		got := 0
		if _, err := Split(Events, strings.NewReader(file.String()), func(it *Item) error {
			if it.Kind == Document {
				got++
			}
			return nil
		}); err != nil || got != want {
			t.Fatalf("%d documents, %v, want %d:\n%s", got, err, want, file.String())
		}
	}
}
