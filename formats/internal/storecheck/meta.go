package storecheck

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/sqlitepages"
	"rehome/formats/rule"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// Meta is the row of a store.db that says whose it is.
type Meta struct {
	There bool // the row is there
	Whole bool // and can be read
	At    store.Addr
	Agent string
	Root  string // "" of none

	q    *rule.Pass
	file string
	cell store.Cell
	odd  []store.Addr // rows of other keys
}

// row takes a row of the table.
func (m *Meta) row(r *sqlitepages.Row, key, value store.Cell) {
	at := store.Addr{File: m.file, Set: "meta", RowID: r.RowID, HasID: true}
	if key.Class != store.Text || string(key.Bytes()) != "0" {
		m.odd = append(m.odd, at)
		return
	}
	m.There, m.At, m.cell = true, at, value.Clone()
}

// members that hold text where they hold anything, and those that must.
var (
	metaTexts = []string{"agentId", "latestRootBlobId", "name", "mode", "approvalMode", "lastUsedModel", "currentPlanUri"}
	metaModes = []string{"default", "plan", "debug", "search", "auto-run", "background"}
	approvals = []string{"allowlist", "unrestricted", "auto-review"}
)

// Ask asks about the row: what the client would make of it.
func (m *Meta) Ask() {
	if m.q.Enabled(rule.Schema) {
		for _, at := range m.odd {
			m.q.Reportf("RH204", at, "unknown key")
		}
	}
	if !m.There {
		return
	}
	doc := m.decode()
	if doc == nil {
		return
	}
	m.Whole = true
	before := m.members(doc)
	if _, ok := m.RootID(); !ok && m.Root != "" && m.q.Enabled(rule.References) {
		return // which RH303 says
	}
	if m.q.Schema != nil && !(before && m.q.Enabled(rule.Meaning)) {
		m.q.Matches(m.q.Schema("cursor-sdk-meta-1"), doc, m.At, "")
	}
}

// decode reads the hexadecimal digits.
func (m *Meta) decode() []byte {
	fail := func(says string, args ...any) []byte {
		m.q.Reportf("RH402", m.At, says, args...)
		return nil
	}
	text := m.cell.Bytes()
	if m.cell.Class != store.Text && m.cell.Class != store.Blob {
		return fail("value is %s", m.cell.Class)
	}
	doc := make([]byte, hex.DecodedLen(len(text)))
	if n, err := hex.Decode(doc, text); err != nil {
		return fail("not hexadecimal after %d bytes", n)
	}
	line, _, err := rawjson.Line(doc)
	if err != nil {
		return fail("not JSON: %v", err)
	}
	if line = bytes.TrimSpace(line); len(line) == 0 || line[0] != '{' {
		return fail("not a JSON object")
	}
	return line
}

// members asks about the members, and reports whether a rule of its own is
// broken.
func (m *Meta) members(doc []byte) (broken bool) {
	tell := func(id, name, says string, args ...any) {
		broken = true
		m.q.Report(rule.Finding{Rule: id, At: m.At, Pointer: "/" + name, Message: says, Args: args})
	}
	for n, value := range rawjson.Members(doc) {
		name, text := string(n), rawjson.Text(value)
		switch {
		case slices.Contains(metaTexts, name) && string(value) == "null":
			tell("RH403", name, "null")
			continue
		case name == "createdAt" && !rawjson.IsNumber(value):
			tell("RH403", name, "not a number")
		case name == "mode" && text != "" && !slices.Contains(metaModes, text), name == "approvalMode" && text != "" && !slices.Contains(approvals, text):
			tell("RH405", name, "%q", rule.Clip(text))
		case name == "blobEncryptionKey" && !key(text):
			tell("RH404", name, "")
		}
		switch name {
		case "agentId":
			m.Agent = text
		case "latestRootBlobId":
			m.Root = text
		}
	}
	return broken
}

// AgentFolder is the folder in which the SDK looks for an agent's checkpoints.
func AgentFolder(agent string) string {
	sum := sha256.Sum256([]byte(agent))
	return "agent-" + hex.EncodeToString(sum[:])
}

// RootID is the id of the root that the row names.
func (m *Meta) RootID() (id agentstate.ID, ok bool) { return blobName(store.TextCell([]byte(m.Root))) }

func key(text string) bool {
	_, ok := blobName(store.TextCell([]byte(text)))
	return ok
}
