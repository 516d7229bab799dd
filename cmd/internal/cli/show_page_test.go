package cli

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rehome/cmd/internal/clitest"
	"rehome/formats/session"
	"rehome/golden"
)

// TestPageVectors puts text that tries to act on a page into every field of a session. Of
// what looks like markup on the page, all must be that of the page itself.
func TestPageVectors(t *testing.T) {
	folder := filepath.Join("..", "..", "..", "testdata", "page")
	template, err := os.ReadFile(filepath.Join(folder, "session.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "vectors.json"))
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Name, Text, Then string
		Repeat           int
	}
	if err := json.Unmarshal(text, &vectors); err != nil || len(vectors) < 60 {
		t.Fatalf("%d vectors, %v", len(vectors), err)
	}
	slot := regexp.MustCompile(`\{\{(block )?([a-z]+)\}\}`)
	path := filepath.Join(t.TempDir(), "session.jsonl")
	for _, v := range vectors {
		v.Text = strings.Repeat(v.Text, max(1, min(v.Repeat, maxVector/len(v.Text)))) + v.Then
		named := len(v.Text) < 200 && !strings.Contains(v.Text, "\x00") // the command line can name it
		lines := slot.ReplaceAllStringFunc(string(template), func(s string) string {
			m := slot.FindStringSubmatch(s)
			space := " "
			if m[2] == "id" && !named {
				return "id"
			}
			if m[1] != "" {
				space = "\n\n"
			}
			quoted := session.AppendString(nil, m[2]+"Begins"+space+v.Text+space+m[2]+"Ends")
			return string(quoted[1 : len(quoted)-1])
		})
		if err := os.WriteFile(path, []byte(lines), 0o666); err != nil {
			t.Fatal(err)
		}
		id, _, _ := strings.Cut(lines, "\n")
		var head struct{ ID string }
		if err := json.Unmarshal([]byte(id), &head); err != nil {
			t.Fatal(err)
		}
		page, stderr, code := call(t, "show", path+"#"+head.ID, "--format", "html", "--all", "--thinking", "--history", "--tools", "full",
			"--full", "--yes")
		if code != 0 {
			t.Errorf("%s: exit %d: %s", v.Name, code, stderr)
			continue
		}
		for _, field := range []string{"title", "prompt", "answer", "command", "stdout", "subanswer", "todo", "plan", "model"} {
			if !strings.Contains(page, field+"Begins") || !strings.Contains(page, field+"Ends") && (named || field != "title") {
				t.Errorf("%s: %s is not on the page", v.Name, field)
			}
		}
		if err := onlyOurs(page); err != nil {
			t.Errorf("%s: %v", v.Name, err)
		}
	}
}

// maxVector is how much of a long text is in each field. TestPageLarge has longer ones.
const maxVector = 40 << 10

// The markup that a page may consist of: each tag with its attributes, spelled as they are.
var (
	pageTag = regexp.MustCompile(`^<(?:!doctype html|/[a-z0-9]+|[a-z][a-z0-9]*(?: [a-z-]+="[^"<>]*")*)>`)
	pageSet = strings.Fields("html head meta title style body a header main nav footer section h1 h2 h3 h4 h5 h6 p span div dl dt dd details summary pre code ul ol li blockquote hr br strong em s time table thead tr th td figure figcaption img bdi")
	pageAt  = regexp.MustCompile(` ([a-z-]+)="([^"<>]*)"`)
)

// pageValues are the values that an attribute may have; nil is any.
func pageValues() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		"alt": nil, "title": nil, "content": nil, "charset": nil, "name": nil, "http-equiv": nil, "lang": nil, "aria-labelledby": nil,
		"aria-label": nil,
		"href":       regexp.MustCompile(`^(#[a-z0-9-]+|https?://.+|mailto:.+)$`),
		"src":        regexp.MustCompile(`^data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$`),
		"id":         regexp.MustCompile(`^(conversation|outline|outline-title|about|turn-[0-9-]+|message-[0-9]+)$`),
		"class":      regexp.MustCompile(`^[a-z ]+$`),
		"open":       regexp.MustCompile(`^$`), "datetime": regexp.MustCompile(`^[0-9T:Z-]+$`),
		"dir": regexp.MustCompile(`^auto$`), "rel": regexp.MustCompile(`^noopener noreferrer nofollow$`), "role": regexp.MustCompile(`^region$`),
		"tabindex": regexp.MustCompile(`^(0|-1)$`), "loading": regexp.MustCompile(`^lazy$`), "decoding": regexp.MustCompile(`^async$`),
		"start": regexp.MustCompile(`^[0-9]+$`), "value": regexp.MustCompile(`^-?[0-9]+$`),
	}
}

// onlyOurs returns an error for markup that is not part of the page. It needs no parser:
// foreign text has no < at all.
func onlyOurs(page string) error {
	head, rest, _ := strings.Cut(page, "<style>")
	_, rest, found := strings.Cut(rest, "</style>")
	if !found || strings.Contains(rest, "style") && strings.Contains(rest, "<style") {
		return fmt.Errorf("no stylesheet, or several")
	}
	values := pageValues()
	for _, part := range []string{head, rest} {
		for at := strings.IndexByte(part, '<'); at >= 0; at = strings.IndexByte(part, '<') {
			part = part[at:]
			tag := pageTag.FindString(part)
			name, _, _ := strings.Cut(strings.Trim(tag, "</>"), " ")
			if tag == "" || name != "!doctype" && !slices.Contains(pageSet, name) {
				return fmt.Errorf("foreign markup: %.100q", part)
			}
			for _, m := range pageAt.FindAllStringSubmatch(tag, -1) {
				allowed, known := values[m[1]]
				if !known || allowed != nil && !allowed.MatchString(m[2]) {
					return fmt.Errorf("foreign attribute %s in %.200q", m[1], tag)
				}
				if m[1] == "href" && m[2][0] != '#' && !strings.Contains(tag, ` rel="noopener`) {
					return fmt.Errorf("a link without rel: %.200q", tag)
				}
			}
			part = part[len(tag):]
		}
	}
	return nil
}

// TestPage compares a page with the expected one, without its stylesheet.
func TestPage(t *testing.T) {
	dir := t.TempDir()
	furnishSession(t, dir)
	page, stderr, code := call(t, "show", filepath.Join(dir, "session.jsonl"), "--format", "html", "--thinking", "--history")
	if code != 0 || stderr != "" {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	head, rest, _ := strings.Cut(page, "<style>")
	style, rest, _ := strings.Cut(rest, "</style>")
	hash := sha256.Sum256([]byte(style))
	policy := "style-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
	if !strings.Contains(head, policy) {
		t.Errorf("the policy does not allow the stylesheet: %s", head)
	}
	golden.Bytes(t, "page/sample.html", []byte(strings.Replace(head, policy, "style-src", 1)+"<style></style>"+rest))
}

// secretSessions writes a session, its subagent, and another session. What looks like a token
// is only in the subagent, so that its parent, which tells of it, does not give it away.
func secretSessions(t *testing.T, dir string) (path, token string) {
	t.Helper()
	token = planted()["rule"]
	text := func(s string) []session.Part { return []session.Part{&session.Text{Text: s}} }
	var out []byte
	add := func(s *session.Session, messages ...*session.Message) {
		out = append(session.AppendHead(out, s), '\n')
		for i, m := range messages {
			m.ID = fmt.Sprint(s.ID, i)
			out = append(session.AppendMessage(out, m), '\n')
		}
	}
	add(&session.Session{Head: session.Head{ID: "parent", Agent: session.CursorCLI}, Children: []session.Link{{Session: "kid", Call: "c"}}},
		&session.Message{Role: session.User, Turn: &session.Turn{Number: 1}, Parts: text("hello")},
		&session.Message{Role: session.User, Turn: &session.Turn{Number: 2}, Parts: text("look")},
		&session.Message{Role: session.Assistant, Parts: []session.Part{&session.ToolCall{ID: "c", Name: "task", Kind: "task",
			Args: session.Raw(`{"description":"Look"}`), Child: "kid"}}},
		&session.Message{Role: session.Tool, Parts: []session.Part{&session.ToolResult{Call: "c", Status: "success"}}},
		&session.Message{Role: session.User, Turn: &session.Turn{Number: 3}, Parts: text("bye")},
	)
	add(&session.Session{Head: session.Head{ID: "kid", Agent: session.CursorCLI, Parent: &session.Link{Session: "parent"}},
		Children: []session.Link{{Session: "parent"}}},
		&session.Message{Role: session.User, Turn: &session.Turn{Number: 3}, Parts: text("find " + token + " please")},
		&session.Message{Role: session.Assistant, Parts: []session.Part{&session.ToolCall{ID: "d", Name: "task", Kind: "task",
			Args: session.Raw(`{}`), Child: "parent"}}},
	)
	add(&session.Session{Head: session.Head{ID: "plain", Agent: session.CursorCLI}},
		&session.Message{Role: session.User, Turn: &session.Turn{Number: 1}, Parts: text("nothing")})
	path = filepath.Join(dir, "secret.jsonl")
	if err := os.WriteFile(path, out, 0o666); err != nil {
		t.Fatal(err)
	}
	return path, token
}

// TestPageSecrets: a page with what looks like a secret is written only as the user wants it.
func TestPageSecrets(t *testing.T) {
	dir := t.TempDir()
	path, token := secretSessions(t, dir)
	out := filepath.Join(dir, "out")
	page := filepath.Join(out, "page.html")
	if err := os.Mkdir(out, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, to := range [][]string{{"--out", page}, {"--format", "html"}, {"--format", "html", "--out", out}} {
		stdout, stderr, code := call(t, append([]string{"show", path + "#parent"}, to...)...)
		if code != 1 || stdout != "" || !strings.Contains(stderr, "1 value that looks like a secret") || !strings.Contains(stderr, "--redact") ||
			strings.Contains(stderr, token) || len(exported(t, out)) > 0 {
			t.Errorf("%q: exit %d: %s%s, %q", to, code, stdout, stderr, exported(t, out))
		}
	}
	shown := func(args ...string) string {
		if stdout, stderr, code := call(t, append([]string{"show", "--replace", "--out", page}, args...)...); code != 0 {
			t.Errorf("%q: exit %d: %s%s", args, code, stdout, stderr)
		}
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if got := shown(path+"#parent", "--yes"); strings.Count(got, token) != 1 || !strings.Contains(got, `<details class="subagent">`) ||
		strings.Count(got, "find ") != 1 || !strings.Contains(got, `id="turn-3"`) {
		t.Errorf("the subagent is not in its place, once: %s", got[strings.Index(got, "<body>"):])
	}
	if got := shown(path+"#parent", "--redact"); strings.Contains(got, token) || !strings.Contains(got, "find redacted-") {
		t.Errorf("not redacted: %s", got[strings.Index(got, "<body>"):])
	}
	shown(path+"#parent", "--turns", "1")
	shown(path + "#plain")
}

// TestPageSecretsInParts: a secret that is whole only on the page, or in a field that is not
// redacted, is refused like others; --redact cannot replace it.
func TestPageSecretsInParts(t *testing.T) {
	dir := t.TempDir()
	token := planted()["rule"]
	half, rest := token[:9], token[9:]
	answer := func(s string) []session.Part { return []session.Part{&session.Text{Text: s}} }
	shell := func(s string) []session.Part {
		value, _ := json.Marshal(map[string]any{"success": map[string]any{"stdout": s, "exitCode": 0}})
		return []session.Part{&session.ToolCall{ID: "c", Name: "shell", Kind: "shell", Args: session.Raw(`{"command":"ls"}`)},
			&session.ToolResult{Call: "c", Status: "success", Value: value}}
	}
	for name, c := range map[string]struct {
		agent string
		parts []session.Part
	}{
		"emphasis":  {parts: answer("a " + half + "**" + rest[:4] + "**" + rest[4:])},
		"code":      {parts: answer("a `" + half + "`" + rest)},
		"reference": {parts: answer("a &#65;" + token[1:])},
		"link":      {parts: answer("[a](https://x.org/?k=&#65;" + token[1:] + ")")},
		"color":     {parts: shell(half + "\x1b[0m" + rest)},
		"title":     {parts: shell(half + "\x1b]0;x\x07" + rest)},
		"agent":     {agent: token, parts: answer("hi")},
	} {
		path := filepath.Join(dir, name+".jsonl")
		writeSession(t, path, &session.Session{Head: session.Head{ID: "s", Agent: c.agent}}, []*session.Message{
			{ID: "1", Role: session.User, Turn: &session.Turn{Number: 1}, Parts: answer("hello")},
			{ID: "2", Role: session.Assistant, Parts: c.parts},
		}, "end")
		for _, flag := range []string{"--format=html", "--redact", "--out=" + filepath.Join(dir, name+".html")} {
			stdout, stderr, code := call(t, "show", path, "--format", "html", flag)
			if code != 1 || stdout != "" || !strings.Contains(stderr, "secret") || strings.Contains(stderr, token) {
				t.Errorf("%s, %s: exit %d: %.300s%s", name, flag, code, stdout, stderr)
			}
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*.html")); len(left) > 0 {
			t.Errorf("%s: wrote %q", name, left)
		}
		if _, stderr, code := call(t, "show", path, "--format", "html", "--redact", "--yes"); code != 0 {
			t.Errorf("%s: --yes: exit %d: %s", name, code, stderr)
		}
	}
}

// TestPageSubagents: a page holds a limited number of subagents, each once, and never the
// session itself; it says how many are left out.
func TestPageSubagents(t *testing.T) {
	const n = 70
	text := func(s string) []session.Part { return []session.Part{&session.Text{Text: s}} }
	root := &session.Session{Head: session.Head{ID: "root", Agent: session.CursorCLI}}
	calls := &session.Message{ID: "calls", Role: session.Assistant}
	var kids []byte
	for i := range n {
		id := fmt.Sprint("kid", i)
		root.Children = append(root.Children, session.Link{Session: id})
		calls.Parts = append(calls.Parts, &session.ToolCall{ID: id, Name: "task", Kind: "task", Args: session.Raw(`{}`), Child: id})
		kids = append(session.AppendHead(kids, &session.Session{Head: session.Head{ID: id, Agent: session.CursorCLI},
			Children: []session.Link{{Session: "root"}}}), '\n')
		kids = append(session.AppendMessage(kids, &session.Message{ID: id, Role: session.User, Turn: &session.Turn{Number: 1},
			Parts: text("I am " + id)}), '\n')
		kids = append(session.AppendMessage(kids, &session.Message{ID: id + "a", Role: session.Assistant,
			Parts: []session.Part{&session.ToolCall{ID: "d", Name: "task", Kind: "task", Args: session.Raw(`{}`), Child: "root"}}}), '\n')
	}
	out := append(session.AppendHead(nil, root), '\n')
	for i, m := range []*session.Message{
		{ID: "1", Role: session.User, Turn: &session.Turn{Number: 1}, Parts: text("begin")}, calls,
		{ID: "2", Role: session.User, Turn: &session.Turn{Number: 2}, Parts: text("hidden " + planted()["rule"])},
	} {
		m.ID = fmt.Sprint(i)
		out = append(session.AppendMessage(out, m), '\n')
	}
	path := filepath.Join(t.TempDir(), "many.jsonl")
	if err := os.WriteFile(path, append(out, kids...), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{"--tools=brief", "--redact", "--yes"} {
		page, stderr, code := call(t, "show", path+"#root", "--format", "html", "--turns", "1", flag)
		if code != 0 || strings.Count(page, "I am kid") != 64 || strings.Contains(page, "hidden ") ||
			!strings.Contains(page, `<dt>subagents left out</dt><dd dir="auto">6</dd>`) {
			t.Errorf("%s: exit %d: %s, %d subagents, %t", flag, code, stderr, strings.Count(page, "I am kid"), strings.Contains(page, "hidden "))
		}
	}
}

// TestPageOutline: an outline of many turns says how many more there are, and turns with
// the same number have different ids.
func TestPageOutline(t *testing.T) {
	path := filepath.Join(t.TempDir(), "turns.jsonl")
	var list []*session.Message
	for i := range 5002 {
		list = append(list, &session.Message{ID: fmt.Sprint(i), Role: session.User, Turn: &session.Turn{Number: min(i+1, 5000)},
			Parts: []session.Part{&session.Text{Text: "go"}}})
	}
	writeSession(t, path, &session.Session{Head: session.Head{ID: "s", Agent: session.CursorCLI}}, list, "end")
	page, stderr, code := call(t, "show", path, "--format", "html")
	for _, want := range []string{"… and 2 more turns", `<dt>turns</dt><dd dir="auto">5,002</dd>`, `id="turn-5000"`, `id="turn-5000-2"`, "<summary>Turns 1 to 200</summary>", "<summary>Turns 4801 to 5000</summary>"} {
		if strings.Count(page, want) != 1 {
			t.Errorf("exit %d, %s: %d times %s", code, stderr, strings.Count(page, want), want)
		}
	}
}

// TestPageOfPipe: the page of a stream is written when it has ended.
func TestPageOfPipe(t *testing.T) {
	for _, to := range []string{"", "page.html"} {
		dir := t.TempDir()
		clitest.PipeStdin(t, "npm warn\n"+clitest.StreamJSON)
		args := []string{"show", "-", "--format", "html"}
		if to != "" {
			to = filepath.Join(dir, to)
			args = []string{"show", "-", "--out", to}
		}
		page, stderr, code := call(t, args...)
		if to != "" {
			b, err := os.ReadFile(to)
			if err != nil {
				t.Fatalf("%v: %s", err, stderr)
			}
			page = string(b)
		}
		if err := onlyOurs(page); code != 0 || err != nil || !strings.Contains(page, `dir="auto">hello</div>`) ||
			!strings.Contains(page, "<p dir=\"auto\">hi</p>") {
			t.Errorf("exit %d: %s, %v\n%s", code, stderr, err, page)
		}
	}
}

// TestPageCalls: what clients add to the arguments of calls is shown with full detail only,
// and the line about a search says what was searched for.
func TestPageCalls(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	writeSession(t, path, &session.Session{Head: session.Head{ID: "s", Agent: session.CursorCLI, Workspace: "/home/ann/app"}},
		[]*session.Message{
			{ID: "1", Role: session.System, Parts: []session.Part{&session.Text{Text: "You are helpful."}}},
			{ID: "2", Role: session.User, Turn: &session.Turn{Number: 1}, Parts: []session.Part{&session.Text{Text: "look"}}},
			{ID: "3", Role: session.Assistant, Parts: []session.Part{
				&session.ToolCall{ID: "a", Name: "shell", Kind: "shell",
					Args: session.Raw(`{"command":"ls","description":"List files","toolCallId":"call_9","timeout":30000}`)},
				&session.ToolCall{ID: "b", Name: "grep", Kind: "grep", Args: session.Raw(`{"path":"/home/ann/app","pattern":"TODO"}`)},
				&session.ToolCall{ID: "c", Name: "grep", Kind: "grep", Args: session.Raw(`{"path":"/home/ann/app/src","pattern":"FIXME"}`)},
			}},
		}, "end")
	for _, detail := range []string{"brief", "full"} {
		page, stderr, code := call(t, "show", path, "--format", "html", "--tools", detail)
		for _, want := range []string{"List files", ">TODO</code>", ">FIXME in src</code>"} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: exit %d, %s: no %q", detail, code, stderr, want)
			}
		}
		if full := detail == "full"; strings.Contains(page, "call_9") != full || strings.Contains(page, "30000") != full ||
			strings.Contains(page, "<h2>Start") {
			t.Errorf("%s: %s", detail, page[strings.Index(page, "<main"):])
		}
	}
}

// TestPageOfOne: several sessions do not become one page.
func TestPageOfOne(t *testing.T) {
	dir := t.TempDir()
	path, _ := secretSessions(t, dir)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	clitest.PipeStdin(t, string(text))
	_, stderr, code := call(t, "show", "-", "--yes", "--out", filepath.Join(dir, "page.html"))
	if left, _ := filepath.Glob(filepath.Join(dir, "*.html")); code != 1 || len(left) > 0 ||
		!strings.Contains(stderr, "holds several sessions") || strings.Contains(stderr, ".rehome") {
		t.Errorf("exit %d: %s, %q", code, stderr, left)
	}
}

// TestPageLarge: what is long is cut, with a line that says how much is left out; --full has it all.
func TestPageLarge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.jsonl")
	lines := strings.Repeat("0123456789\n", 5000)
	value, err := json.Marshal(map[string]any{"success": map[string]any{"stdout": lines + strings.Repeat("x", 100_000), "exitCode": 0}})
	if err != nil {
		t.Fatal(err)
	}
	writeSession(t, path, &session.Session{Head: session.Head{ID: "large", Agent: session.CursorCLI, Title: strings.Repeat("t", 10_000)}},
		[]*session.Message{
			{ID: "1", Role: session.User, Turn: &session.Turn{Number: 1},
				Parts: []session.Part{&session.Text{Text: strings.Repeat("p", 1_000_000)}}},
			{ID: "2", Role: session.Assistant, Parts: []session.Part{&session.ToolCall{ID: "c", Name: "shell", Kind: "shell",
				Args: session.Raw(`{"command":"ls"}`)}}},
			{ID: "3", Role: session.Tool, Parts: []session.Part{&session.ToolResult{Call: "c", Status: "success", Value: value}}},
		}, "end")
	for _, c := range []struct {
		flag    string
		letters [2]int // how many of the prompt and of the long line
		left    []string
	}{
		{"--tools=brief", [2]int{256 << 10, 2000}, []string{"738 kB left out", "4,961 lines and the ends of 1 long line left out"}},
		{"--tools=full", [2]int{256 << 10, 2000}, []string{"4,601 lines and the ends of 1 long line left out"}},
		{"--full", [2]int{1_000_000, 100_000}, nil},
	} {
		page, stderr, code := call(t, "show", path, "--format", "html", c.flag)
		for i, letter := range []string{"p", "x"} {
			if n := len(regexp.MustCompile(letter + `{1000,}`).FindString(page)); n != c.letters[i] {
				t.Errorf("%s: %d letters %s, want %d", c.flag, n, letter, c.letters[i])
			}
		}
		for _, s := range c.left {
			if !strings.Contains(page, s) {
				t.Errorf("%s: no %q", c.flag, s)
			}
		}
		if code != 0 || strings.Contains(page, "left out") != (c.left != nil) {
			t.Errorf("%s: exit %d: %s", c.flag, code, stderr)
		}
	}
}

// TestPageWords: a word to redact that is whole only on the page is refused. Words that the
// page itself has are not, and neither are its times.
func TestPageWords(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".rehomeredact"),
		[]byte("ACME\nTurn\nOutline\nCursor\nmodel\nUTC\ntime\nUntitled\nmain\nturns\n/PROJ-[0-9]+/\n/[0-9]{4}-[0-9]{2}-[0-9]{2}/\n"),
		0o666); err != nil {
		t.Fatal(err)
	}
	at := session.Stored(1_769_860_800_000)
	path := filepath.Join(dir, "words.jsonl")
	for text, kind := range map[string]string{
		"AC**ME**": "word", "`AC`ME": "word", "&#65;CME": "word", "[a](https://x.org/AC&#77;E)": "word", "PROJ-**12**": "pattern",
		"![A](x)CME": "", "```AC&#77;E\nx\n```": "word",
		"ACME, PROJ-12, of 2026-01-31": "", "AC\n\nME": "", "the Turn of the Outline": "",
	} {
		writeSession(t, path, &session.Session{Head: session.Head{ID: "s", Agent: session.CursorCLI, Created: at, Updated: at}},
			[]*session.Message{
				{ID: "1", Role: session.User, At: at, Turn: &session.Turn{Number: 1, Start: at}, Parts: []session.Part{&session.Text{Text: "hello"}}},
				{ID: "2", Role: session.Assistant, At: at, Parts: []session.Part{&session.Text{Text: text}}},
			}, "end")
		page, stderr, code := call(t, "show", path, "--format", "html", "--redact")
		if refused := code == 1 && page == "" && strings.Contains(stderr, "turn 1 of the page") &&
			strings.Contains(stderr, "("+kind+")"); refused != (kind != "") || !refused && code != 0 {
			t.Errorf("%s: exit %d: %s", text, code, stderr)
		}
		if _, again, _ := call(t, "show", path, "--redact", "--replace", "--out", filepath.Join(dir, "page.html")); kind != "" &&
			!strings.HasPrefix(again, "rehome: "+path+"#s: turn 1 of the page") {
			t.Errorf("%s: %s", text, again)
		}
		if strings.Contains(page+stderr, "ACME") || strings.Contains(page+stderr, "PROJ-12") {
			t.Errorf("%s: not redacted: %s%s", text, stderr, page)
		}
		if page != "" && (!strings.Contains(page, `<time datetime="2026-01-31T12:00:00Z">12:00</time>`) ||
			strings.Contains(page, ">redacted-word-2 1")) {
			t.Errorf("%s: the page itself was redacted: %s", text, page[strings.Index(page, "<main"):])
		}
	}
}

// TestPageMessages: each message has its time, once, with a link that leads to it, and the day
// if it is another one. Reasoning is folded, unfolded or left out.
func TestPageMessages(t *testing.T) {
	at := func(minutes int64) session.Stamp { return session.Stored(1_769_860_800_000 + minutes*60_000) }
	text := func(s string) session.Part { return &session.Text{Text: s} }
	path := filepath.Join(t.TempDir(), "times.jsonl")
	writeSession(t, path, &session.Session{Head: session.Head{ID: "s", Agent: session.CursorCLI}}, []*session.Message{
		{ID: "1", Role: session.User, At: at(0), Turn: &session.Turn{Number: 1, Start: at(0)}, Parts: []session.Part{text("hello")}},
		{ID: "2", Role: session.Assistant, At: at(1), Parts: []session.Part{&session.Thinking{Text: "A pondered thing."}, text("one"),
			text("two")}},
		{ID: "3", Role: session.Assistant, At: at(24 * 60), Parts: []session.Part{text("three")}},
		{ID: "4", Role: session.Assistant, At: at(25 * 60), Parts: []session.Part{text("four")}},
		{ID: "5", Role: session.Assistant, Parts: []session.Part{text("five")}},
	}, "end")
	page, stderr, code := call(t, "show", path, "--format", "html")
	var got []string
	for _, m := range regexp.MustCompile(`<a class="when" id="([a-z0-9-]+)" href="#([a-z0-9-]+)"><time datetime="[^"]+">([^<]+)</time></a>`).FindAllStringSubmatch(page, -1) {
		if m[1] != m[2] {
			t.Errorf("%s leads to %s", m[1], m[2])
		}
		got = append(got, m[1]+" "+m[3])
	}
	if want := "message-1 12:00, message-2 12:01, message-3 2026-02-01 12:00, message-4 13:00"; strings.Join(got, ", ") != want || code != 0 {
		t.Errorf("exit %d, %s: %q, want %s", code, stderr, got, want)
	}
	for flag, want := range map[string]string{"": `<details class="thinking">`, "--thinking": `<details class="thinking" open="">`, "--no-thinking": ""} {
		args := []string{"show", path, "--format", "html"}
		if flag != "" {
			args = append(args, flag)
		}
		page, stderr, code := call(t, args...)
		if code != 0 || strings.Contains(page, "pondered") != (want != "") || !strings.Contains(page, want) {
			t.Errorf("%s: exit %d, %s: %s", flag, code, stderr, page[strings.Index(page, "<main"):])
		}
	}
	for _, args := range [][]string{{"--no-thinking"}, {"--no-thinking", "--format", "markdown"}, {"--format", "html", "--thinking", "--no-thinking"}} {
		if page, stderr, code := call(t, append([]string{"show", path}, args...)...); code != 2 || page != "" ||
			!strings.Contains(stderr, "hint: omit") {
			t.Errorf("%q: exit %d: %s%s", args, code, page, stderr)
		}
	}
}

// TestPageFiles: files that steps changed are listed once each, with what was changed in all
// and where at first. Failed and rejected edits are not.
func TestPageFiles(t *testing.T) {
	edit := func(id, path, status string) []session.Part {
		args, _ := json.Marshal(map[string]string{"path": "/home/ann/app/" + path, "old_string": "a", "new_string": "b\nc"})
		return []session.Part{
			&session.ToolCall{ID: id, Name: "edit", Kind: "edit", Args: args},
			&session.ToolResult{Call: id, Status: status, Error: status == "error",
				Value: session.Raw(`{"` + status + `":{"diffString":"@@ -1 +1,2 @@\n-a\n+b\n+c"}}`)},
		}
	}
	say := func(n int) *session.Message {
		return &session.Message{ID: fmt.Sprint("u", n), Role: session.User, Turn: &session.Turn{Number: n},
			Parts: []session.Part{&session.Text{Text: "go"}}}
	}
	var many []session.Part
	for i := range 250 {
		many = append(many, edit(fmt.Sprint("m", i), fmt.Sprint("many", i), "success")...)
	}
	path := filepath.Join(t.TempDir(), "files.jsonl")
	for _, c := range []struct {
		parts []session.Part
		want  string
		items int
	}{
		{slices.Concat(edit("a", "a.go", "success"), edit("b", "<b>.go", "success"), edit("c", "a.go", "success"),
			edit("d", "failed.go", "error"), edit("e", "failed.go", "rejected")), "<summary>2 files edited</summary>", 2},
		{edit("d", "failed.go", "error"), "", 0},
		{many, "<summary>200 files edited, or more</summary>", 200},
	} {
		writeSession(t, path, &session.Session{Head: session.Head{ID: "s", Agent: session.CursorCLI, Workspace: "/home/ann/app"}},
			[]*session.Message{
				say(1), say(2), {ID: "2", Role: session.Assistant, Parts: c.parts},
			}, "end")
		page, stderr, code := call(t, "show", path, "--format", "html")
		_, list, _ := strings.Cut(page, `<details class="files">`)
		list, _, _ = strings.Cut(list, "</details>")
		if code != 0 || !strings.Contains(list, c.want) || strings.Count(list, "<li>") != c.items || strings.Contains(list, "failed.go") {
			t.Errorf("exit %d, %s: %s", code, stderr, list)
		}
		if c.items == 2 && (!strings.Contains(list, `<a href="#turn-2"><bdi>a.go</bdi></a> <span class="counts">+4 -2</span>`) ||
			!strings.Contains(list, "&lt;b&gt;.go")) {
			t.Errorf("wrong list: %s", list)
		}
		if err := onlyOurs(page); err != nil {
			t.Error(err)
		}
	}
}
