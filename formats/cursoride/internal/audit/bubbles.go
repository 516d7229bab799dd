package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/members"
	"rehome/formats/rule"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// bubbleRow collects the references of a bubble and checks its tool call. Most bubbles
// refer to nothing, which two searches find out faster than parsing.
func (j *judge) bubbleRow(at store.Addr, rest, doc []byte) {
	i := bytes.LastIndexByte(rest, ':')
	if i < 0 {
		return
	}
	session, id := rest[:i], rest[i+1:]
	if j.q.Enabled(rule.References) {
		j.own(at, session, id, doc)
		if bytes.Contains(doc, []byte(checkpointMark)) {
			j.checkpoint(at, session, doc)
		}
		if bytes.Contains(doc, []byte(contentMark)) {
			j.contents(at, doc)
		}
	}
	if j.q.Enabled(rule.Meaning) && bytes.Contains(doc, []byte(toolMark)) {
		j.tool(at, session, rawjson.Last(doc, "toolFormerData"))
	}
}

// own checks whether a bubble's id is the one in its key. A search for the id usually
// suffices, and is faster than parsing.
func (j *judge) own(at store.Addr, session, id, doc []byte) {
	j.buffer = append(append(append(j.buffer[:0], `"bubbleId":"`...), id...), '"')
	if bytes.Contains(doc, j.buffer) {
		return
	}
	if own := rawjson.Text(first(doc, "bubbleId")); own != "" && own != string(id) {
		j.found("RH349", at, "/bubbleId", "")
		j.b.named.mu.Lock()
		defer j.b.named.mu.Unlock()
		if j.b.named.misplaced == nil {
			j.b.named.misplaced = map[string]bool{}
		}
		j.b.named.misplaced[string(session)+":"+own] = true
	}
}

// What is searched for before anything is parsed.
const (
	checkpointMark = `"checkpointId"`
	contentMark    = `ContentId`
	toolMark       = `"toolFormerData"`
	capabilityMark = `"capabilityType"`
)

// first returns the value of the first member of that name. Ids come first, and what
// follows them need not be read.
func first(doc []byte, name string) []byte {
	for n, v := range rawjson.Members(doc) {
		if string(n) == name {
			return v
		}
	}
	return nil
}

func (j *judge) checkpoint(at store.Addr, session, doc []byte) {
	id := rawjson.TextAt(doc, "checkpointId")
	if id == "" {
		return
	}
	j.b.named.mu.Lock()
	defer j.b.named.mu.Unlock()
	j.b.named.checkpoints = append(j.b.named.checkpoints, named{kept(at), "/checkpointId", lists.CheckpointRow + string(session) + ":" + id})
}

// kept returns an address that stays valid after its batch.
func kept(at store.Addr) store.Addr {
	at.Key = at.Key.Clone()
	return at
}

// contents collects the file contents that an edit refers to.
func (j *judge) contents(at store.Addr, doc []byte) {
	result := lists.EmbeddedJSON(rawjson.At(doc, "toolFormerData", "result"))
	for _, name := range [...]string{"beforeContentId", "afterContentId"} {
		text := strings.TrimPrefix(rawjson.TextAt(result, name), lists.ContentRow)
		var id [sha256.Size]byte
		if n, err := hex.Decode(id[:], []byte(text[:min(len(text), 2*len(id))])); err != nil || n != len(id) || text == lists.EmptyContent {
			continue
		}
		j.b.named.mu.Lock()
		if j.b.named.contents == nil {
			j.b.named.contents = map[[sha256.Size]byte]named{}
		}
		if old, ok := j.b.named.contents[id]; !ok || at.RowID < old.at.RowID {
			j.b.named.contents[id] = named{kept(at), "/toolFormerData/result", text}
		}
		j.b.named.mu.Unlock()
	}
}

// tool checks a call: whether it ended, and whether its embedded JSON is complete.
func (j *judge) tool(at store.Addr, session, raw []byte) {
	for _, name := range [...]string{"params", "result"} {
		text := rawjson.Last(raw, name)
		if len(text) < 2 || text[0] != '"' {
			continue
		}
		if j.buffer = rawjson.AppendText(j.buffer[:0], text); brokenOff(j.buffer) {
			j.found("RH421", at, "/toolFormerData/"+name, "")
		}
	}
	switch rawjson.TextAt(raw, "status") {
	case "loading", "started", "pending", "generating":
		j.b.named.mu.Lock()
		defer j.b.named.mu.Unlock()
		if j.b.named.calls == nil {
			j.b.named.calls = map[string][]named{}
		}
		j.b.named.calls[string(session)] = append(j.b.named.calls[string(session)], named{at: kept(at), pointer: "/toolFormerData/status"})
	}
}

// brokenOff reports text that begins like an object and is cut off. Results can be
// plain text, which can begin with anything.
func brokenOff(text []byte) bool {
	if !bytes.HasPrefix(text, []byte(`{"`)) {
		return false
	}
	_, err := rawjson.End(text, 0)
	bad := (*rawjson.SyntaxError)(nil)
	return errors.As(err, &bad) && bad.Offset >= len(text)
}

// generation reports what is newer than the versions known here. It returns whether
// the record as a whole is newer: then no known schema applies.
func (j *judge) generation(at store.Addr, family string, doc []byte) (newer bool) {
	n, ok := members.Whole(first(doc, "_v"))
	newest := int64(18)
	if family == lists.BubbleRow {
		newest = 3
	}
	if newer = ok && n > newest; newer {
		j.found("RH204", at, "/_v", "version %d", n)
	}
	if family != lists.BubbleRow || !bytes.Contains(doc, []byte(capabilityMark)) {
		return newer
	}
	if n, ok := members.Whole(rawjson.Last(doc, "capabilityType")); ok && (n < 0 || n > newestCapability) {
		j.found("RH204", at, "/capabilityType", "capability %d", n)
	}
	return newer
}

// newestCapability is the newest known type of capability, browser_agent.
const newestCapability = 35
