package cursoride

import (
	"strings"

	"rehome/formats/store"
)

// owned are the families of keys whose rows belong to one composer, named by
// the part of the key that follows.
var owned = [...]string{
	"composerData:", "bubbleId:", "checkpointId:", "messageRequestContext:", "codeBlockDiff:",
	"codeBlockPartialInlineDiffFates:", "ofsContent:", "composerVirtualRowHeights:",
	"agentKv:checkpoint:", "agentKv:bubbleCheckpoint:",
}

// shared are the families of content-addressed rows: the hash follows.
var shared = [...]struct{ prefix, shard string }{
	{"agentKv:blob:", "blob-"},
	{"composer.content.", "content-"},
}

// shard names the shard of a row from its key alone.
func shard(set *store.Set, r store.Record) string {
	key := r.Cell(0)
	if key.Class != store.Text && key.Class != store.Blob {
		return "no-key"
	}
	k := string(key.Bytes())
	if set.Name == "cursorDiskKV" {
		for _, f := range owned {
			if rest, ok := strings.CutPrefix(k, f); ok {
				composer, _, _ := strings.Cut(rest, ":")
				return "c-" + composer
			}
		}
		for _, f := range shared {
			if rest, ok := strings.CutPrefix(k, f.prefix); ok && len(rest) >= 2 {
				return f.shard + rest[:2]
			}
		}
	}
	return keyRange(k)
}

// keyRange is the range of all other keys: by their first letter or digit.
func keyRange(key string) string {
	if key == "" {
		return "key-empty"
	}
	c := key[0] | 0x20 // ASCII letters in lower case, digits as they are
	if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
		return "key-" + string(c)
	}
	return "key-other"
}
