package opencode

import (
	"path/filepath"
	"strings"

	"rehome/formats/rule"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// required are the members without which `opencode import` ends with an error, by what has them:
// each a path, its type and, for ids, how they begin.
var required = map[string]string{
	"session":     `id=ses slug=" title=" version=" time/created=0 time/updated=0`,
	"user":        `id=msg sessionID=ses time/created=0 agent=" model/providerID=" model/modelID="`,
	"assistant":   `id=msg sessionID=ses time/created=0 parentID=msg modelID=" providerID=" mode=" agent=" path/cwd=" path/root=" cost=0 ` + tokens,
	"text":        `text="`,
	"reasoning":   `text=" time/start=0`,
	"file":        `mime=" url="`,
	"step-start":  ``,
	"step-finish": `reason=" cost=0 ` + tokens,
	"snapshot":    `snapshot="`,
	"patch":       `hash=" files=[`,
	"agent":       `name="`,
	"subtask":     `prompt=" description=" agent="`,
	"retry":       `attempt=0 error={ time/created=0`,
	"compaction":  `auto=?`,
	"tool":        `callID=" tool=" state/status=" state/input={`,
	"pending":     `state/raw="`,
	"running":     `state/time/start=0`,
	"completed":   `state/output=" state/title=" state/metadata={ state/time/start=0 state/time/end=0`,
	"error":       `state/error=" state/time/start=0 state/time/end=0`,
}

const (
	tokens = `tokens/input=0 tokens/output=0 tokens/reasoning=0 tokens/cache/read=0 tokens/cache/write=0`
	ofPart = `id=prt sessionID=ses messageID=msg `
)

// imports reports what keeps OpenCode from importing a file.
func imports(x *export, q *rule.Pass) {
	at := store.Addr{File: filepath.Base(x.path)}
	one := q.OwnedBy(rawjson.TextAt(x.info, "id"))
	lacks := func(at store.Addr, pointer, kind, more string, b []byte) {
		paths, known := required[kind]
		if !known {
			one.Add(unimported, at, pointer, "type %q", rule.Clip(kind))
			return
		}
		for _, want := range strings.Fields(more + paths) {
			p, is, _ := strings.Cut(want, "=")
			if !fits(rawjson.At(b, strings.Split(p, "/")...), is) {
				one.Add(unimported, at, pointer, "member %q", p)
			}
		}
	}
	lacks(at, "/info", "session", "", x.info)
	for _, m := range x.list {
		at.Set, at.RowID, at.HasID = "messages", int64(m.n), true
		info := rawjson.Last(m.raw, "info")
		lacks(at, "/info", rawjson.TextAt(info, "role"), "", info)
		for p := range rawjson.Elements(rawjson.Last(m.raw, "parts")) {
			kind := rawjson.TextAt(p, "type")
			if lacks(at, "/parts", kind, ofPart, p); kind == "tool" {
				lacks(at, "/parts", rawjson.TextAt(p, "state", "status"), "", p)
			}
		}
	}
}

// fits reports whether a value is of a type, which the first byte of one says, or begins with a word.
func fits(raw []byte, is string) bool {
	switch is {
	case `"`, "{", "[":
		return len(raw) > 0 && raw[0] == is[0]
	case "0":
		return rawjson.IsNumber(raw)
	case "?":
		return string(raw) == "true" || string(raw) == "false"
	}
	return rawjson.IsText(raw) && strings.HasPrefix(rawjson.Text(raw), is)
}
