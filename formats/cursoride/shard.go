package cursoride

import (
	"strings"

	"rehome/formats"
	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/store"
)

// shard names the shard of a row from its key alone.
func shard(set *store.Set, r store.Record) formats.Shard {
	key := r.Cell(0)
	if key.Class != store.Text && key.Class != store.Blob {
		return formats.Shard{Name: "no-key"}
	}
	k := string(key.Bytes())
	if set.Name == lists.DiskTable {
		if f := lists.FamilyOf(key.Bytes()); f.Prefix != "" {
			id := k[len(f.Prefix):]
			switch {
			case f.Owned:
				composer, _, _ := strings.Cut(id, ":")
				return formats.Shard{Name: "c-" + composer}
			case len(id) >= 2:
				return formats.Shard{Name: f.Shard + id[:2]}
			}
		}
	}
	return formats.Shard{Name: keyRange(k)}
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
