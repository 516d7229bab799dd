package agentstate

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"rehome/formats/internal/wire"
	"rehome/formats/session"
)

// sample writes a value of a field and says how it must be spelled. It goes by
// the table, as the walker does, but shares no code with it.
func sample(f *wire.Field, depth int) (b []byte, text string) {
	one := func(n int) ([]byte, string) { return sampleOne(f, depth, n) }
	switch {
	case f.Key != 0:
		v, s := one(1)
		key := str(1, "k")
		if f.Key != wire.String {
			key = vint(1, 7)
			return field(f.Num, key, v), `{"7":` + s + `}`
		}
		return field(f.Num, key, v), `{"k":` + s + `}`
	case f.Repeated:
		v1, s1 := one(1)
		v2, s2 := one(2)
		return append(retag(v1, f.Num), retag(v2, f.Num)...), "[" + s1 + "," + s2 + "]"
	}
	v, s := one(1)
	return retag(v, f.Num), s
}

// retag gives a field written as number 2 its own number.
func retag(b []byte, num int) []byte {
	tag, n := binary.Uvarint(b)
	return append(binary.AppendUvarint(nil, uint64(num)<<3|tag&7), b[n:]...)
}

// sampleOne writes one value, as number 2.
func sampleOne(f *wire.Field, depth, n int) (b []byte, text string) {
	switch f.Kind {
	case wire.Int32:
		return vint(2, uint64(n)), fmt.Sprint(n)
	case wire.Uint32:
		return vint(2, uint64(n)+1<<31), fmt.Sprint(n + 1<<31)
	case wire.Int64, wire.Uint64:
		return vint(2, 1<<53+uint64(n)), fmt.Sprintf(`"%d"`, 1<<53+n)
	case wire.Sint32:
		return vint(2, uint64(2*n-1)), fmt.Sprint(-n)
	case wire.Bool:
		return vint(2, 1), "true"
	case wire.Enum:
		return vint(2, 1000+uint64(n)), fmt.Sprint(1000 + n) // their names are the walker's test
	case wire.Float:
		return binary.LittleEndian.AppendUint32([]byte{2<<3 | 5}, math.Float32bits(0.5)), "0.5"
	case wire.Double:
		return binary.LittleEndian.AppendUint64([]byte{2<<3 | 1}, math.Float64bits(2.25)), "2.25"
	case wire.String:
		return str(2, fmt.Sprintf("%s-%d", f.Name, n)), fmt.Sprintf(`"%s-%d"`, f.Name, n)
	case wire.Value:
		return field(2, str(3, "v")), `"v"`
	case wire.Struct:
		return field(2, field(1, str(1, "s"), field(2, vint(4, 1)))), `{"s":true}`
	case wire.Blob, wire.Ref:
		raw := []byte{0xff, byte(n)}
		return field(2, raw), `"` + base64.StdEncoding.EncodeToString(raw) + `"`
	}
	body, object := sampleMessage(f.Message, depth+1)
	return field(2, body), object
}

// sampleMessage fills a message: all fields, of each oneof the first.
func sampleMessage(m *wire.Message, depth int) (b []byte, object string) {
	var members []string
	taken := map[string]bool{}
	for _, f := range m.Fields {
		if f.OneOf != "" && taken[f.OneOf] || depth > 3 && f.Message != nil {
			continue
		}
		taken[f.OneOf] = f.OneOf != ""
		v, s := sample(f, depth)
		b = append(b, v...)
		members = append(members, fmt.Sprintf(`"%s":%s`, f.Name, s))
	}
	return b, "{" + strings.Join(members, ",") + "}"
}

// cases are the results that a kind can have: its result's message, with each
// field of its oneof alone.
func cases(m *wire.Message) (names []string, bodies [][]byte, objects []string) {
	for _, pick := range m.Fields {
		if pick.OneOf == "" {
			continue
		}
		var b []byte
		var members []string
		for _, f := range m.Fields {
			if f.OneOf != "" && f != pick {
				continue
			}
			v, s := sample(f, 1)
			b = append(b, v...)
			members = append(members, fmt.Sprintf(`"%s":%s`, f.Name, s))
		}
		names, bodies, objects = append(names, pick.Name), append(bodies, b), append(objects, "{"+strings.Join(members, ",")+"}")
	}
	return names, bodies, objects
}

// TestEveryKind reads each kind of tool with each of its results.
func TestEveryKind(t *testing.T) {
	kinds, results := 0, 0
	for _, f := range wire.Messages().Message("ToolCall").Fields {
		kind, ok := strings.CutSuffix(f.Name, "ToolCall")
		if !ok || f == codecs().truncatedKind { // stands for another: TestTruncatedCall
			continue
		}
		kinds++
		args, argsText := []byte(nil), ""
		if m := f.Message.Field(1).Message; m != nil {
			args, argsText = sampleMessage(m, 1)
		}
		names, bodies, objects := cases(f.Message.Field(2).Message)
		if len(names) == 0 {
			t.Errorf("%s has no results", kind)
		}
		for i, name := range names {
			results++
			g := newGraph()
			r := g.read(t, g.put(refs(8, g.turn("go", "r", call(f.Num, "the call", args, bodies[i])))), false)
			c, _ := find[*session.ToolCall](r)
			v, _ := find[*session.ToolResult](r)
			if c == nil || v == nil {
				t.Errorf("%s/%s: no call or no result: %s", kind, name, r.text())
				continue
			}
			if c.Kind != kind || c.ID != "the call" || string(c.Args) != argsText {
				t.Errorf("%s/%s: kind %q, id %q\n got %s\nwant %s", kind, name, c.Kind, c.ID, c.Args, argsText)
			}
			if v.Status != name || v.Call != "the call" || string(v.Value) != objects[i] {
				t.Errorf("%s/%s: status %q of %q\n got %s\nwant %s", kind, name, v.Status, v.Call, v.Value, objects[i])
			}
			for _, n := range r.notes {
				if !strings.Contains(n, "missing") { // the samples' references lead nowhere
					t.Errorf("%s/%s: %s", kind, name, n)
				}
			}
		}
	}
	if kinds < 68 || results < 140 {
		t.Errorf("only %d kinds and %d results", kinds, results)
	}
}

// find is the first part of a type.
func find[P session.Part](r *read) (p P, ok bool) {
	for _, m := range r.msgs {
		for _, part := range m.Parts {
			if p, ok = part.(P); ok {
				return p, true
			}
		}
	}
	return p, false
}

// TestCommonKinds spells the kinds that sessions are full of by hand.
func TestCommonKinds(t *testing.T) {
	for _, c := range []struct {
		kind                  int
		args, result          []byte
		name, wantArgs, value string
		failed                bool
	}{
		{1, append(str(1, "false"), vint(3, 30000)...), field(2, str(1, "false"), vint(3, 1), str(6, "no")), "shell", `{"command":"false","timeout":30000}`, `{"failure":{"command":"false","exitCode":1,"stderr":"no"}}`, true},
		{1, str(1, "ls"), append(field(1, str(5, "a")), vint(102, 1)...), "shell", `{"command":"ls"}`, `{"success":{"stdout":"a"},"isBackground":true}`, false},
		{1, str(1, "rm"), field(4, str(3, "user")), "shell", `{"command":"rm"}`, `{"rejected":{"reason":"user"}}`, true},
		{8, str(1, "/a"), field(1, str(1, "x"), vint(4, 2), field(8, vint(1, 1), vint(2, 2))), "read", `{"path":"/a"}`, `{"success":{"content":"x","totalLines":2,"readRange":{"startLine":1,"endLine":2}}}`, false},
		{8, str(1, "/a"), field(2, str(1, "gone")), "read", `{"path":"/a"}`, `{"error":{"errorMessage":"gone"}}`, true},
		{12, append(str(1, "/a"), str(6, "new")...), field(1, str(1, "/a"), vint(3, 1), str(6, "old"), str(7, "new")), "edit", `{"path":"/a","streamContent":"new"}`, `{"success":{"path":"/a","linesAdded":1,"beforeFullFileContent":"old","afterFullFileContent":"new"}}`, false},
		{5, append(str(1, "x"), vint(8, 1)...), field(1, str(1, "x"), field(4, str(1, "/w"), field(2, field(3, field(1, str(1, "/a"), field(2, vint(1, 3), str(2, "xx"))), vint(2, 9))))), "grep", `{"pattern":"x","caseInsensitive":true}`,
			`{"success":{"pattern":"x","workspaceResults":{"/w":{"content":{"matches":[{"file":"/a","matches":[{"lineNumber":3,"content":"xx"}]}],"totalLines":9}}}}}`, false},
		{4, str(2, "*.go"), field(1, str(3, "a.go"), str(3, "b.go"), vint(4, 2)), "glob", `{"globPattern":"*.go"}`, `{"success":{"files":["a.go","b.go"],"totalFiles":2}}`, false},
		{9, append(field(1, str(1, "1"), str(2, "do"), vint(3, 1)), vint(2, 1)...), field(1, field(1, str(1, "1"), vint(3, 3)), vint(3, 1)), "updateTodos", `{"todos":[{"id":"1","content":"do","status":"TODO_STATUS_PENDING"}],"merge":true}`, `{"success":{"todos":[{"id":"1","status":"TODO_STATUS_COMPLETED"}],"wasMerge":true}}`, false},
		{15, append(str(1, "x-y"), field(2, str(1, "n"), field(2, binary.LittleEndian.AppendUint64([]byte{2<<3 | 1}, math.Float64bits(3))))...), field(1, field(1, field(1, str(1, "t"))), vint(2, 1)), "mcp", `{"name":"x-y","args":{"n":3}}`, `{"success":{"content":[{"text":{"text":"t"}}],"isError":true}}`, true},
		{37, str(1, "http://x"), field(3, str(1, "no")), "webFetch", `{"url":"http://x"}`, `{"rejected":{"reason":"no"}}`, true},
		{42, str(1, "t"), field(2, str(1, "t"), vint(2, 9)), "await", `{"taskId":"t"}`, `{"stillRunning":{"taskId":"t","runtimeMs":"9"}}`, false},
	} {
		g := newGraph()
		r := g.read(t, g.put(refs(8, g.turn("go", "r", call(c.kind, "id", c.args, c.result)))), false)
		call, _ := find[*session.ToolCall](r)
		result, _ := find[*session.ToolResult](r)
		if call.Kind != c.name || string(call.Args) != c.wantArgs || string(result.Value) != c.value || result.Error != c.failed {
			t.Errorf("%d: %s %s\n%s\nwant %s\n%s; error %v", c.kind, call.Kind, call.Args, result.Value, c.wantArgs, c.value, result.Error)
		}
	}
}

// TestNewKind: a kind that is newer than the table parses and is named by its
// number.
func TestNewKind(t *testing.T) {
	g := newGraph()
	step := field(2, field(99, field(1, str(1, "x")), field(2, field(1)), str(3, "z")), str(57, "c1"), str(98, "and this"))
	r := g.read(t, g.put(refs(8, g.turn("go", "r", step))), false)
	want(t, r, `1 user "go"`, `assistant calls:tool-99:c1`, `tool gives:c1:`)
	for _, text := range []string{`"kind":"tool-99"`, `"args":{"field":1,"wire":2,"base64":"CgF4"}`, `"value":{"field":2,"wire":2,"base64":"CgA="}`, `"#98"`, `{"name":"body","raw":{"field":99,`} {
		if !r.has(text) {
			t.Errorf("not there: %s\n%s", text, r.text())
		}
	}
}
