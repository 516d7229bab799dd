package agentstate

import (
	"bytes"
	"encoding/binary"
)

// names holds the ids of tool calls, each once. Every id occurs three times, and they are
// most of the text in an outline.
type names struct {
	text []byte            // length and bytes of each
	at   map[uint64]uint32 // by hash, while the outline is made
}

// name is the offset of an id in names; 0 is the empty id.
type name uint32

func (n *names) add(text []byte, hash uint64) name {
	if len(text) == 0 {
		return 0
	}
	if at, ok := n.at[hash]; ok && bytes.Equal(n.get(name(at)), text) {
		return name(at)
	}
	if n.at == nil {
		n.at = map[uint64]uint32{}
	}
	if len(n.text) == 0 {
		n.text = append(n.text, 0)
	}
	at := uint32(len(n.text))
	n.text = append(binary.AppendUvarint(n.text, uint64(len(text))), text...)
	n.at[hash] = at
	return name(at)
}

func (n *names) get(at name) []byte {
	if at == 0 {
		return nil
	}
	size, head := binary.Uvarint(n.text[at:])
	from := uint64(at) + uint64(head)
	return n.text[from : from+size]
}
