package cursoride

import (
	"fmt"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/digest"
	"rehome/formats/store"
)

// shard names the shard of a row from its key alone.
func shard(set *store.Set, r store.Record) formats.Shard {
	at := 0
	if set.Name == lists.HeadTable {
		at = max(0, slices.Index(set.Columns, "composerId"))
	}
	key := r.Cell(at)
	if key.Class != store.Text && key.Class != store.Blob {
		return formats.Shard{Name: "no-key"}
	}
	k := string(key.Bytes())
	switch set.Name {
	case lists.ItemTable:
		return formats.Shard{Name: ofKey(k)}
	case lists.HeadTable:
		return formats.Shard{Name: ofComposer(k)}
	case lists.DiskTable:
		f := lists.FamilyOf(key.Bytes())
		id := k[len(f.Prefix):]
		switch {
		case f.Owned:
			composer, _, _ := strings.Cut(id, ":")
			return formats.Shard{Name: ofComposer(composer)}
		case f.Shard != "" && len(id) >= 2:
			return formats.Shard{Name: f.Shard + id[:2], Common: true}
		}
	}
	return formats.Shard{Name: fmt.Sprintf("b-%02x", uint8(digest.Name(k)))}
}

func ofComposer(id string) string { return "c-" + id }

// ofKey names the shard of one key: by the start of the key, in letters that are safe
// in file names, and a hash of all of it.
func ofKey(key string) string {
	words := strings.FieldsFunc(strings.ToLower(key[:min(len(key), 40)]), func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9')
	})
	return fmt.Sprintf("k-%s-%08x", strings.Join(words, "-"), uint32(digest.Name(key)))
}
