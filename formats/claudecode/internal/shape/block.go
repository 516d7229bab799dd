package shape

import (
	"slices"

	"rehome/internal/rawjson"
)

// Fate is what a block becomes.
type Fate uint8

// The fates of blocks. Their Members are the type, and what is named here.
const (
	Opaque   Fate = iota // kept as it is
	Text                 // text
	Thinking             // text, signature
	Redacted             // data
	Call                 // id, name, input
	Answer               // id of the call, content, whether it is an error
	Media                // source
	Served               // a call that the API runs itself; kept as it is
)

// Block is a type of block. Its part is made of Members, which are nil if they are not
// known; the API accepts Accepted, too.
type Block struct {
	Fate              Fate
	Members, Accepted []string
}

// Blocks are the types of blocks.
var Blocks = map[string]*Block{
	"text":              {Text, []string{"type", "text"}, []string{"citations", "cache_control"}},
	"thinking":          {Thinking, []string{"type", "thinking", "signature"}, nil},
	"redacted_thinking": {Redacted, []string{"type", "data"}, nil},
	"tool_use":          {Call, []string{"type", "id", "name", "input"}, []string{"caller", "cache_control"}},
	"tool_result":       {Answer, []string{"type", "tool_use_id", "content", "is_error"}, []string{"cache_control"}},
	"image":             {Media, []string{"type", "source"}, []string{"cache_control"}},
	"document":          {Media, []string{"type", "source"}, []string{"title", "context", "citations", "cache_control"}},
	"server_tool_use":   {Fate: Served},
	"mcp_tool_use":      {Fate: Served},
	"mcp_tool_listing":  {},
	"search_result":     {},
	"container_upload":  {},
	"tool_reference":    {},
	"compaction":        {},
	"mid_conv_system":   {},
	"fallback":          {},
	"browser_state":     {},
}

// firsts are the places in a list of the type of a block, and of what follows it in Members.
var firsts = func() map[string]int {
	all := map[string]int{"type": 0}
	for _, b := range Blocks {
		if b.Members != nil && all[b.Members[1]] == 0 {
			all[b.Members[1]] = len(all)
		}
	}
	return all
}()

// TypeOf returns the type of a block, nil if no part is made of it, and its text or id.
func TypeOf(b []byte) (t *Block, first []byte) {
	var found [16][]byte
	for name, value := range rawjson.Members(b) {
		if i, ok := firsts[string(name)]; ok {
			found[i] = value
		}
	}
	if t = Blocks[rawjson.Text(found[0])]; t == nil || t.Members == nil {
		return nil, nil
	}
	return t, found[firsts[t.Members[1]]]
}

// Knows reports whether the API accepts a member, or may accept it.
func (b *Block) Knows(member string) bool {
	return b.Members == nil || slices.Contains(b.Members, member) || slices.Contains(b.Accepted, member)
}

// InAnswer reports whether the API accepts the block in the result of a call.
func (b *Block) InAnswer() bool {
	return b.Fate == Opaque || b.Fate == Text || b.Fate == Media
}
