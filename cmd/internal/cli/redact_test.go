package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"rehome/cmd/internal/clitest"
	"rehome/golden"
)

// planted are values that must not survive, by what finds them.
func planted() map[string]string {
	return map[string]string{
		"rule":         "AKIA" + "QYLPMN5HHHFPZAM2",
		"another rule": "ghp" + "_" + "x4Tq9vB2nM7kLp0sWz3YcR8dHf1JgE6uAo5Q",
		"word":         `Müller & "Söhne"`,
		"pattern":      "NORD-20417",
		"home":         "annabelle",
	}
}

// sentence has all of them.
func sentence() string {
	p := planted()
	return fmt.Sprintf("use %s or %s for %s, ticket %s, in /home/%s/app", p["rule"], p["another rule"], p["word"], p["pattern"], p["home"])
}

// claudeSecrets writes a config folder of Claude Code with the sentence in every place.
func claudeSecrets(t *testing.T, dir string) {
	t.Helper()
	type m map[string]any
	s := sentence()
	inner, err := json.Marshal(m{"deep": s, s: 1})
	if err != nil {
		t.Fatal(err)
	}
	outer, err := json.Marshal(m{"json": string(inner)})
	if err != nil {
		t.Fatal(err)
	}
	cwd, id := "/home/"+planted()["home"]+"/app", "20000000-0000-4000-8000-00000000000a"
	picture := drawing(t, "png", 3)
	chunk := append([]byte("tEXtComment\x00"), s...)
	var text bytes.Buffer
	binary.Write(&text, binary.BigEndian, uint32(len(chunk)-4))
	text.Write(chunk)
	binary.Write(&text, binary.BigEndian, crc32.ChecksumIEEE(chunk))
	picture = slices.Concat(picture[:33], text.Bytes(), picture[33:])
	block := func(v ...m) []m { return v }
	entries := []m{
		{"type": "user", "message": m{"role": "user", "content": block(m{"type": "text", "text": s},
			m{"type": "image", "source": m{"type": "base64", "media_type": "image/png", "data": base64.StdEncoding.EncodeToString(picture)}})}},
		{"type": "assistant", "message": m{"role": "assistant", "id": "msg_1", "type": "message", "model": "claude-opus-5-5",
			"content": block(m{"type": "thinking", "thinking": "hm, " + s, "signature": "c2ln"})}},
		{"type": "assistant", "message": m{"role": "assistant", "id": "msg_1", "type": "message", "model": "claude-opus-5-5",
			"content": block(m{"type": "tool_use", "id": "t1", "name": "Bash",
				"input": m{"command": "echo " + string(outer), "description": hex.EncodeToString([]byte(s))}})}},
		{"type": "user", "message": m{"role": "user", "content": block(m{"type": "tool_result", "tool_use_id": "t1",
			"content": "see " + base64.StdEncoding.EncodeToString([]byte(s)) + " and " + url.QueryEscape(s)})},
			"toolUseResult": m{"stdout": s, "stderr": string(outer), "interrupted": false}},
		{"type": "assistant", "message": m{"role": "assistant", "id": "msg_2", "type": "message", "model": "claude-opus-5-5",
			"content": block(m{"type": "tool_use", "id": "t2", "name": "Write", "input": m{"file_path": cwd + "/a.txt", "content": s + "\n"}})}},
		{"type": "user", "message": m{"role": "user", "content": block(m{"type": "tool_result", "tool_use_id": "t2", "content": "ok"})},
			"toolUseResult": m{"type": "create", "filePath": cwd + "/a.txt", "content": s + "\n", "structuredPatch": []m{}}},
		{"type": "assistant", "message": m{"role": "assistant", "id": "msg_3", "type": "message", "model": "claude-opus-5-5",
			"content": block(m{"type": "text", "text": "Done: " + s})}},
	}
	var b bytes.Buffer
	parent := any(nil)
	for i, e := range entries {
		uuid := fmt.Sprintf("0000000%d-0000-4000-8000-000000000000", i)
		maps.Copy(e, m{"parentUuid": parent, "uuid": uuid, "isSidechain": false, "timestamp": fmt.Sprintf("2026-01-01T00:00:0%d.000Z", i),
			"cwd": cwd, "sessionId": id, "version": "2.1.328", "userType": "external"})
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(i%2 == 0)
		if err := enc.Encode(e); err != nil {
			t.Fatal(err)
		}
		parent = uuid
	}
	fmt.Fprintf(&b, "%s\n", strings.ReplaceAll(fmt.Sprintf(`{"type":"ai-title","sessionId":%q,"aiTitle":%q}`, id, s), "ö", `\u00f6`))
	project := filepath.Join(dir, "projects", "-home-"+planted()["home"]+"-app")
	fill(t, filepath.Join(project, id+".jsonl"), b.String())
	fill(t, filepath.Join(project, id, "tool-results", "b1.txt"), strings.Repeat("long\n", 100)+s)
}

func fill(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// spellings are how a value can be written. They are made without the engine.
func spellings(v string) map[string][]byte {
	quoted, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	q := string(quoted[1 : len(quoted)-1])
	plain := strings.NewReplacer(`\u0026`, "&").Replace(q)
	ascii := ""
	for _, r := range plain {
		if r < 0x80 {
			ascii += string(r)
		} else {
			ascii += fmt.Sprintf(`\u%04x`, r)
		}
	}
	twice, err := json.Marshal(plain)
	if err != nil {
		panic(err)
	}
	out := map[string][]byte{
		"raw": []byte(v), "JSON": []byte(plain), "HTML in JSON": []byte(q), "ASCII JSON": []byte(ascii), "JSON in JSON": twice[1 : len(twice)-1],
		"hexadecimal": []byte(hex.EncodeToString([]byte(v))), "HEXADECIMAL": []byte(strings.ToUpper(hex.EncodeToString([]byte(v)))),
		"URL": []byte(url.QueryEscape(v)), "path": []byte(url.PathEscape(v)),
	}
	for _, inner := range []string{v, plain, q} {
		for skip := range 3 {
			n := len(inner) - (len(inner)-skip)%3
			if skip < n {
				out[fmt.Sprintf("base64 of %d at %d", len(inner), skip)] = []byte(base64.RawStdEncoding.EncodeToString([]byte(inner[skip:n])))
			}
		}
	}
	var le, be []byte
	for _, u := range utf16.Encode([]rune(v)) {
		le, be = binary.LittleEndian.AppendUint16(le, u), binary.BigEndian.AppendUint16(be, u)
	}
	out["UTF-16LE"], out["UTF-16BE"] = le, be
	return out
}

// survivors lists the values that are in the bytes or names of a file or folder.
func survivors(t *testing.T, path string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		b = append(b, "\x00"+strings.TrimPrefix(name, path)...)
		for what, v := range planted() {
			for how, s := range spellings(v) {
				if i := bytes.Index(b, s); i >= 0 {
					out = append(out, fmt.Sprintf("%s: %s as %s: %q", filepath.Base(name), what, how, b[max(0, i-60):min(len(b), i+len(s)+40)]))
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// names lists the files in a folder.
func names(t *testing.T, dir string) string {
	t.Helper()
	tree, err := clitest.ReadTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(slices.Sorted(maps.Keys(tree)))
}

// told lists the values that are in the sessions of a store, such as those that are told in
// pieces.
func told(t *testing.T, path string) []string {
	t.Helper()
	dst := filepath.Join(t.TempDir(), "canonical")
	if stdout, stderr, code := call(t, "convert", path, dst, "--to", "canonical", "--by-session", "--allow", "unreadable"); code != 0 {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	return survivors(t, dst)
}

// wrongs are the findings of check: each rule, and how often. That a chat is in the folder of
// another path is not one: its path was redacted.
func wrongs(t *testing.T, path string) string {
	t.Helper()
	stdout, stderr, _ := call(t, "check", path, "--json")
	var doc struct {
		Checked []struct {
			Findings []struct {
				Rule  string
				Count int
			}
		}
	}
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
		t.Fatalf("%v: %s%s", err, stdout, stderr)
	}
	count := map[string]int{}
	for _, c := range doc.Checked {
		for _, f := range c.Findings {
			if f.Rule != "RH310" {
				count[f.Rule] += f.Count
			}
		}
	}
	return fmt.Sprint(count)
}

// redactedStores are stores of every format with the sentence in every place that the format has.
func redactedStores(t *testing.T, dir string) map[string]string {
	t.Helper()
	claude := filepath.Join(dir, "claude")
	claudeSecrets(t, claude)
	out := map[string]string{"claude-code": claude}
	made := func(name, from string, args ...string) {
		out[name] = filepath.Join(dir, name)
		if _, stderr, code := call(t, append([]string{"convert", from, out[name], "--allow", "dropped", "--quiet"}, args...)...); code != 0 {
			t.Fatalf("%s: exit %d: %s", name, code, stderr)
		}
	}
	for _, to := range []string{"canonical", "cursor-chat", "cursor-sdk", "cursor-ndjson", "cursor-ide"} {
		made(to, claude, "--to", to)
	}
	made("chat as archive", out["cursor-chat"], "--to", "archive", "--with-secrets")
	made("claude as archive", claude, "--to", "archive", "--with-secrets")
	made("ide as archive", out["cursor-ide"], "--to", "archive", "--with-secrets")
	made("sdk as archive", out["cursor-sdk"], "--to", "archive", "--with-secrets")
	made("flat.ndjson", out["cursor-sdk"], "--to", "cursor-ndjson", "--flat")
	file := filepath.Join(dir, "one.jsonl")
	b, err := os.ReadFile(filepath.Join(claude, "projects", "-home-"+planted()["home"]+"-app", "20000000-0000-4000-8000-00000000000a.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	fill(t, file, string(b))
	out["claude-code.jsonl"] = file
	quoted, err := json.Marshal(sentence())
	if err != nil {
		t.Fatal(err)
	}
	for name, from := range map[string]string{"stream-json": "stream", "codex": "codex/home/sessions", "cursor-transcript": "transcript/projects"} {
		to := filepath.Join(dir, name)
		root := golden.Path(t, "../testdata/"+from)
		err := filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			b, err := os.ReadFile(p)
			for i, word := range []string{`"text":"`, `"content":"`, `"command":"`, `"message":"`, `"path":"`} {
				b = bytes.ReplaceAll(b, []byte(word), []byte(word+[]string{strings.Trim(string(quoted), `"`),
					hex.EncodeToString([]byte(sentence()))}[i%2]+" "))
			}
			fill(t, filepath.Join(to, strings.TrimPrefix(p, root)), string(b))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		out[name] = to
	}
	out["split"] = filepath.Join(dir, "split")
	split(t, out["split"])
	return out
}

// split writes streams in which a value is told in two pieces that nothing repeats.
func split(t *testing.T, dir string) {
	t.Helper()
	v := planted()["rule"]
	lines := func(format string) (out string) {
		for i, piece := range []string{"use " + v[:9], v[9:] + " now"} {
			out += fmt.Sprintf(format+"\n", piece, i)
		}
		return out
	}
	fill(t, filepath.Join(dir, "split.jsonl"), `{"type":"system","subtype":"init","session_id":"5e550000-0000-4000-8000-000000000001","model":"m","cwd":"/w"}`+"\n"+
		`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"go"}]},"session_id":"5e550000-0000-4000-8000-000000000001"}`+
		"\n"+
		lines(`{"type":"thinking","subtype":"delta","text":%q,"session_id":"5e550000-0000-4000-8000-000000000001","timestamp_ms":176169900600%d}`)+
		lines(`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":%q}]},"session_id":"5e550000-0000-4000-8000-000000000001","timestamp_ms":176169900700%d}`))
	from := golden.Path(t, "../testdata/sdk/e2e-jsonl")
	if err := os.CopyFS(filepath.Join(dir, "sdk"), os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "sdk", "run_events.ndjson")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	b = bytes.Replace(b, []byte(`"thinking… "`), []byte(`"use `+v[:9]+`"`), 1)
	b = bytes.Replace(b, []byte(`"深い"`), []byte(`"`+v[9:]+` now"`), 1)
	fill(t, name, string(b))
	for _, to := range []string{"cursor-sdk", "cursor-ndjson"} {
		if _, stderr, code := call(t, "convert", filepath.Join(dir, "sdk"), filepath.Join(dir, to), "--to", to, "--with-secrets", "--sidecar",
			"none", "--quiet"); code != 0 && to == "cursor-sdk" {
			t.Fatalf("exit %d: %s", code, stderr)
		}
	}
}

// TestRedactPlanted: no value survives redaction in any format, and the stores are as sound
// as before.
func TestRedactPlanted(t *testing.T) {
	dir := t.TempDir()
	stores := redactedStores(t, dir)
	words := filepath.Join(dir, "words")
	fill(t, words, "# customers\n"+planted()["word"]+"\n/NORD-[0-9]+/\n")
	for name, src := range stores {
		t.Run(name, func(t *testing.T) {
			if all := append(survivors(t, src), told(t, src)...); len(all) == 0 {
				t.Fatal("nothing is planted")
			}
			before := wrongs(t, src)
			args := []string{"redact", src, "", "--redact-file", words, "--redact-paths"}
			dst, again := filepath.Join(dir, "redacted "+name, name), filepath.Join(dir, "again "+name, name)
			args[2] = dst
			if stdout, stderr, code := call(t, args...); code != 0 {
				t.Fatalf("exit %d: %s%s", code, stdout, stderr)
			} else if strings.Contains(stdout+stderr, planted()["word"]) || strings.Contains(stdout+stderr, planted()["rule"]) {
				t.Errorf("the result has values: %s%s", stdout, stderr)
			}
			if left := append(survivors(t, dst), told(t, dst)...); len(left) > 0 {
				t.Errorf("%d survive:\n%s", len(left), strings.Join(left[:min(len(left), 5)], "\n"))
			}
			if after := wrongs(t, dst); after != before {
				t.Errorf("check found %s, and finds %s", before, after)
			}
			if name == "flat.ndjson" && names(t, src) != names(t, dst) {
				t.Errorf("files %s became %s", names(t, src), names(t, dst))
			}
			args[1], args[2] = dst, again
			if stdout, stderr, code := call(t, append(args, "--jobs", "4")...); code != 0 {
				t.Fatalf("exit %d: %s%s", code, stdout, stderr)
			}
			if same, err := clitest.SameTrees(filepath.Dir(dst), filepath.Dir(again)); err != nil || !same {
				t.Errorf("redacted again, it changes (%v)", err)
			}
		})
	}
}
