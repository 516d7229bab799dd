package cursorchat

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/rawjson"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/storedb"
	"rehome/formats/session"
)

const (
	acpName    = "acp-sessions"
	besideName = "meta.json" // the file beside the database
	besideMost = 1 << 20     // more is no list of times and a title
)

// heads is the one chat of a store. Since May 2026 the file beside the database
// says enough; only where it is absent, has no title or speaks of a subagent is
// the database's meta row read, and nothing else of it ever.
func heads(ctx context.Context, l *formats.Location, v formats.View) iter.Seq2[*session.Head, error] {
	return func(yield func(*session.Head, error) bool) {
		h, err := head(ctx, l, v)
		if err != nil {
			h = nil
		}
		yield(h, err)
	}
}

func head(ctx context.Context, l *formats.Location, v formats.View) (*session.Head, error) {
	h := &session.Head{Agent: session.CursorCLI, Turns: -1, Bytes: -1}
	file := l.Path
	if l.IsDir() {
		file = filepath.Join(l.Path, storeName)
	}
	dir := chatFolder(file)
	h.ID = placed(dir)
	info, err := os.Stat(file)
	if err != nil {
		return nil, &formats.Error{Format: name, At: file, Err: formats.Cause(err)}
	}
	h.Bytes = info.Size()
	if log, err := os.Stat(file + "-wal"); err == nil {
		h.Bytes += log.Size()
	}
	enough := false
	if dir != "" {
		enough = headFromFile(h, filepath.Join(dir, besideName))
	}
	if enough && h.ID != "" {
		return h, nil
	}
	value, err := sqlitefile.Value(ctx, file, storedb.MetaTable, storedb.MetaKey, sqlitefile.Options{Live: v.Live, OnNotice: v.OnNotice, Verbose: v.Verbose})
	if err != nil {
		return nil, err
	}
	headFromRow(h, value)
	if h.ID == "" {
		h.ID = invented(file)
	}
	return h, nil
}

// chatFolder is the folder of the chat whose database this is, "" where the
// file was copied to somewhere under another name: what lies beside it there
// says nothing of it.
func chatFolder(file string) string {
	if abs, err := filepath.Abs(file); err == nil && filepath.Base(abs) == storeName {
		return filepath.Dir(abs)
	}
	return ""
}

// placed is the id that a chat's folder gives it, "" if it gives none.
func placed(dir string) string {
	if id := filepath.Base(dir); dir != "" && uuidName.MatchString(id) {
		return id
	}
	return ""
}

// invented is the id of a chat that neither its folder nor its meta row names,
// in the list as in what is read: the name of its folder, or of its file.
func invented(file string) string {
	if dir := chatFolder(file); dir != "" {
		return filepath.Base(dir)
	}
	base := filepath.Base(file)
	return cmp.Or(strings.TrimSuffix(base, filepath.Ext(base)), base)
}

// headFromFile takes what the file beside the database says, and reports whether
// that is all there is to know of a chat.
func headFromFile(h *session.Head, path string) bool {
	doc := readBeside(path)
	if doc == nil {
		return false
	}
	sub, talked := false, true
	for n, value := range rawjson.Members(doc) {
		switch string(n) {
		case "title":
			h.Title = rawjson.Text(value)
		case "cwd":
			h.Workspace = rawjson.Text(value)
		case "createdAtMs":
			h.Created = storedb.Millis(value)
		case "updatedAtMs":
			h.Updated = storedb.Millis(value)
		case "isSubagent":
			sub = string(value) == "true"
		case "hasConversation":
			talked = string(value) != "false"
		}
	}
	if !talked {
		h.Turns = 0
	}
	return !sub && (h.Title != "" || !talked)
}

// readBeside reads a small JSON object from an ordinary file; nil if it is none.
func readBeside(path string) []byte {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > besideMost {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	doc, err := io.ReadAll(io.LimitReader(f, besideMost))
	if err != nil || !json.Valid(doc) {
		return nil
	}
	return doc
}

// headFromRow takes what the meta row says and the file beside the database does
// not.
func headFromRow(h *session.Head, value []byte) {
	row := storedb.ParseMeta(storedb.MetaText(value))
	if row == nil {
		return
	}
	h.ID, h.Title = cmp.Or(h.ID, row.Text(storedb.MetaAgent)), cmp.Or(h.Title, row.Text(storedb.MetaName))
	h.Created, h.Parent = cmp.Or(h.Created, row.Created()), row.Parent()
	if string(row.Raw(storedb.MetaRoot)) == `""` {
		h.Turns = 0
	}
}
