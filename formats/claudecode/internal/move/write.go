package move

import (
	"context"
	"path/filepath"

	"rehome/formats"
	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/claudecode/internal/shape"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/lines"
	"rehome/internal/rawjson"
)

const maxLine = jsonl.MaxLine

// The members, beside cwd, by which the client finds a session and its files.
const (
	movedName    = "relocatedCwd"  // overrides cwd
	checkpointIn = "realParentDir" // of a file in a checkpoint, inside backup or snapshot
)

// Members are formats.Mover.Members.
var Members = []string{movedName, checkpointIn}

// member is the value of such a member in a file.
type member struct {
	name, text string
	from, to   int // in the line
}

// find returns such members of a line, in order.
func find(l lines.Line) (out []member) {
	if l.Long {
		return nil
	}
	match := func(name []byte, depth int) string {
		switch s := string(name); {
		case depth == 1 && (s == shape.Names[shape.Cwd] || s == movedName || s == "type"), depth > 1 && s == checkpointIn:
			return s
		}
		return ""
	}
	checkpoint := false
	err := rawjson.Find(l.Bytes, match, func(m rawjson.Member) bool {
		text := rawjson.Text(l.Bytes[m.From:m.To])
		if m.Name == "type" {
			checkpoint = text == "file-history-snapshot" || text == "file-history-delta"
		} else if text != "" {
			out = append(out, member{m.Name, text, m.From, m.To})
		}
		return true
	})
	if err != nil {
		return nil // the client does not read it either
	}
	kept := out[:0]
	for _, m := range out {
		if m.name != checkpointIn || checkpoint {
			kept = append(kept, m)
		}
	}
	return kept
}

// File is formats.Mover.File: in a file of lines, the folders are replaced where they stand,
// and all other bytes are copied.
func File(ctx context.Context, from, to string, mv *formats.Moved) (done bool, err error) {
	if filepath.Ext(from) != outline.Ending {
		return false, nil
	}
	return true, lines.CopyFile(ctx, from, to, maxLine, func(l lines.Line) (out []lines.Edit) {
		for _, m := range find(l) {
			if to, in := mv.Path(m.text); in {
				out = append(out, lines.Edit{From: m.from, To: m.to, Text: rawjson.Quote(nil, []byte(to))})
			}
		}
		return out
	})
}
