package storedb

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"rehome/formats/internal/members"
	"rehome/formats/internal/secret"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

const (
	// MetaTable is the name of the table meta, MetaKey the key of its row.
	MetaTable = "meta"
	MetaKey   = "0"
)

// Members of the meta row. A codec keeps those that it does not use.
const (
	MetaAgent = iota
	MetaRoot
	MetaName
	MetaMode
	MetaRun
	MetaCreated
	MetaModel
	MetaParent
	MetaCopy
)

// CopyMember is the member that rehome adds to the meta row of a store that it wrote from
// a session: of which one, and how the store was then.
const CopyMember = "rehome"

// CopyUndated is the name of a flag in it: the time of creation is not that of the session,
// which has none.
const CopyUndated = "undated"

var metaMembers = [...]string{"agentId", "latestRootBlobId", "name", "mode", "isRunEverything", "createdAt", "lastUsedModel", "subagentInfo", CopyMember}

// DefaultMode is what clients write as the mode whatever the agent does.
const DefaultMode = "default"

// Meta is the row of the table meta. Its Extras are all members that nobody
// asks for; none of them is a secret.
type Meta struct{ members.Object }

// MetaText returns the JSON of a meta row. Clients write it in hexadecimal;
// there are rows with the JSON itself.
func MetaText(value []byte) []byte {
	text := make([]byte, hex.DecodedLen(len(value)))
	if _, err := hex.Decode(text, value); err != nil {
		return value
	}
	return text
}

// ParseMeta returns the row that MetaText gave, nil if it is not a JSON object.
func ParseMeta(text []byte) *Meta {
	m := &Meta{}
	doc, _, err := rawjson.Line(text)
	if err != nil || !m.Split(doc, "meta.", metaMembers[:]) {
		return nil
	}
	m.Extras = slices.DeleteFunc(m.Extras, func(e session.Extra) bool {
		return secret.Credential(strings.TrimPrefix(e.Name, "meta."), e.Raw)
	})
	return m
}

// Created returns when the agent was created.
func (m *Meta) Created() session.Stamp {
	if rawjson.Last(m.Raw(MetaCopy), CopyUndated) != nil {
		return session.Stamp{}
	}
	if at := Millis(m.Raw(MetaCreated)); at.Known() {
		return at
	}
	return m.Stamp(MetaCreated)
}

// Millis returns a time in milliseconds, which some versions write as a string.
func Millis(raw []byte) session.Stamp {
	text := string(raw)
	if s := rawjson.Text(raw); s != "" {
		text = s
	}
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil && ms > 0 {
		return session.Stored(ms)
	}
	return session.Stamp{}
}

// Parent returns the session that started this one and the call that did, nil if
// this is not a subagent.
func (m *Meta) Parent() *session.Link {
	var o members.Object
	if !o.Split(m.Raw(MetaParent), "meta.subagentInfo.", []string{"parentAgentId", "toolCallId", "typeName"}) || o.Text(0) == "" {
		m.Keep(MetaParent)
		return nil
	}
	link := &session.Link{Session: o.Text(0), Call: o.Text(1), Kind: o.Text(2)}
	m.Extras, m.Count = append(m.Extras, o.Extras...), m.Count+int64(len(o.Extras))
	return link
}
