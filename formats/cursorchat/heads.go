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
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/storedb"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

const (
	acpName     = "acp-sessions"
	besideName  = "meta.json" // the file beside the database
	maxHeadFile = 1 << 20     // a larger file is not a list of times and a title
)

// heads yields the head of a store's one chat. Since May 2026 the file beside the
// database suffices; only if it is missing, has no title or names a subagent is the meta
// row of the database read, and never anything else in it.
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

// chatFolder returns the folder of the chat that a database is of; "" if the file was
// copied elsewhere under another name, where files beside it do not belong to it.
func chatFolder(file string) string {
	if abs, err := filepath.Abs(file); err == nil && filepath.Base(abs) == storeName {
		return filepath.Dir(abs)
	}
	return ""
}

// placed returns the id that the folder of a chat states, "" if there is none.
func placed(dir string) string {
	if id := filepath.Base(dir); dir != "" && uuidName.MatchString(id) {
		return id
	}
	return ""
}

// invented returns the id of a chat that neither its folder nor its meta row states,
// for heads and for Decode: the name of its folder, or of its file.
func invented(file string) string {
	if dir := chatFolder(file); dir != "" {
		return filepath.Base(dir)
	}
	base := filepath.Base(file)
	return cmp.Or(strings.TrimSuffix(base, filepath.Ext(base)), base)
}

// headFromFile adds what the file beside the database states, and reports whether that
// is complete.
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

// readBeside reads a small JSON object from a regular file; nil for anything else.
func readBeside(path string) []byte {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxHeadFile {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	doc, err := io.ReadAll(io.LimitReader(f, maxHeadFile))
	if err != nil || !json.Valid(doc) {
		return nil
	}
	return doc
}

// headFromRow adds what only the meta row states.
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
