package sdkdoc

import "rehome/formats/store"

// Schema describes a store of documents: a set of lines for each kind.
func Schema() *store.Schema {
	s := &store.Schema{Origin: "cursor-sdk"}
	for k := range Kind(Kinds) {
		s.Sets = append(s.Sets, store.Set{File: k.File(), Kind: store.Lines, Columns: []string{"json"}})
	}
	return s
}

// Documents reports whether a schema is Schema's, perhaps with plain files
// behind it.
func Documents(s *store.Schema) bool {
	for i, set := range s.Sets {
		if i < Kinds && (set.Kind != store.Lines || set.File != Kind(i).File()) || i >= Kinds && set.Kind != store.Plain {
			return false
		}
	}
	return len(s.Sets) >= Kinds
}

// Transcripts is the folder of readable copies that may lie beside either kind
// of store.
const Transcripts = "agent-transcripts"

// Omission is the sidecar item that says that a secret was left at home, and where. At
// is the line, or the row of a store's meta table.
func Omission(at store.Addr, column int) store.SidecarItem {
	return store.SidecarItem{At: at, Column: column, Row: []store.Cell{store.WithheldCell()}}
}

// IsOmission tells such items from the rest.
func IsOmission(it *store.SidecarItem) bool {
	if len(it.Row) != 1 || it.Row[0].Class != store.Withheld {
		return false
	}
	if it.At.Set == "" {
		_, lines := KindOf(it.At.File)
		return lines
	}
	return it.At.Set == "meta" && it.At.Line == 0
}

// SetCwd gives an agent's line another workspace, and leaves all else as it
// is. false: the line has none, or has this one.
func SetCwd(dst, line []byte, cwd string) ([]byte, bool) {
	var found [1]span
	if !split(line, []string{"cwd"}, found[:]).object || found[0] == (span{}) {
		return line, false
	}
	at := len(dst)
	dst = append(dst, line[:found[0].from]...)
	dst = Quote(dst, []byte(cwd))
	if string(dst[at+found[0].from:]) == string(found[0].of(line)) {
		return line, false
	}
	return append(dst, line[found[0].to:]...), true
}

// Created is the time in an agent's row in milliseconds, 0 if it tells none.
func Created(agent []store.Cell) int64 {
	ms, _, _ := parseISO(agent[AgentCreated].Bytes())
	return ms
}

// Quote appends text as a JSON string, as the SDK spells it.
func Quote(dst, text []byte) []byte {
	dst, _ = appendString(dst, text)
	return dst
}
