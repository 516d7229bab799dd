package agentstate

import (
	"strings"
	"sync"

	"rehome/formats/internal/toolmap"
	"rehome/formats/internal/wire"
)

// Words returns the words that decoding adds to what blobs contain, a line each: the
// names of tools and of the values of enums.
var Words = sync.OnceValue(func() []byte {
	var out []string
	for _, k := range toolmap.Kinds() {
		out = append(append(out, k), toolmap.Names(k)...)
	}
	return []byte(strings.Join(append(out, wire.Messages().Words()...), "\n"))
})
