package cursorchat

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"rehome/formats"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/storedb"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// extension is what an undo record says of a chat to which turns were added.
type extension struct {
	ID     string         `json:"id"`
	Before string         `json:"before"` // the root
	After  string         `json:"after"`
	Blobs  *storedb.Added `json:"blobs"`
	Times  [2]int64       `json:"times"` // in the file that chats are listed by; 0: unchanged
}

// storeIn returns the database of a chat, which is named by it or by its folder.
func storeIn(path string) string {
	if filepath.Base(path) == storeName {
		return path
	}
	return filepath.Join(path, storeName)
}

// extend is formats.Into.Extend: one transaction adds the blobs and names the new root.
func extend(ctx context.Context, a formats.Addition) (err error) {
	path := storeIn(a.To)
	row, err := metaAt(ctx, a.From)
	if err != nil {
		return err
	}
	x := &extension{ID: row.Text(storedb.MetaAgent), Before: a.Root, After: row.Text(storedb.MetaRoot)}
	if a.DryRun {
		is, err := metaAt(ctx, filepath.Dir(path))
		if err == nil && is.Text(storedb.MetaRoot) != x.Before {
			err = formats.Changed(name, path)
		}
		return errors.Join(err, refuseOpen(path))
	}
	e, err := edit(ctx, path, storeIn(a.From))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	found, err := swapRoot(ctx, e, x.Before, x.After)
	if err == nil && !found {
		err = formats.Changed(name, path)
	}
	if err != nil {
		return err
	}
	if x.Blobs, err = storedb.AddBlobs(ctx, e, path); err != nil {
		return err
	}
	x.Times = [2]int64{listedAt(filepath.Dir(path)), listedAt(a.From)}
	x.Times[1] = max(x.Times[1], x.Times[0])
	record, err := json.Marshal(x)
	if err == nil {
		err = a.Log.Save(record)
	}
	if err == nil {
		err = e.Commit(ctx)
	}
	if err != nil {
		return err
	}
	return setListed(filepath.Dir(path), filepath.Join(a.From, besideName), x.Times[0], x.Times[1])
}

// undo is formats.Into.Undo. What else the client has changed stays.
func undo(ctx context.Context, r formats.UndoRecord, dryRun bool) ([]formats.Undone, error) {
	x, path := &extension{}, storeIn(r.Store)
	if err := json.Unmarshal(r.Changes, x); err != nil || x.Blobs == nil {
		return nil, &formats.Error{At: r.Dir, Err: errors.New("corrupt"), Hint: "this undo record cannot be used"}
	}
	kept := func(why string) ([]formats.Undone, error) { return []formats.Undone{{Key: x.ID, Kept: why}}, nil }
	if _, err := os.Lstat(path); err != nil {
		return kept("it no longer exists")
	}
	row, err := metaAt(ctx, filepath.Dir(path))
	switch {
	case err != nil:
		return nil, err
	case row.Text(storedb.MetaRoot) == x.Before:
		return kept("") // undone already, or never done
	case row.Text(storedb.MetaRoot) != x.After:
		return kept("changed since, by its client or a later migration")
	case refuseOpen(path) != nil:
		return kept("in use: the client has it open")
	case dryRun:
		return kept("")
	}
	e, err := edit(ctx, path, "")
	if err != nil {
		return nil, err
	}
	found, err := swapRoot(ctx, e, x.After, x.Before)
	if err == nil && !found {
		err = formats.Changed(name, path)
	}
	if err == nil {
		err = x.Blobs.Remove(ctx, e)
	}
	if err == nil {
		err = e.Commit(ctx)
	}
	if err = errors.Join(err, e.Close()); err != nil {
		return nil, err
	}
	staged := filepath.Join(filepath.Dir(path), besideName+".rehome-undo")
	if err := setListed(filepath.Dir(path), staged, x.Times[1], x.Times[0]); err != nil {
		return nil, err
	}
	return kept("")
}

// edit begins to change a chat that its client does not have open.
func edit(ctx context.Context, path, attached string) (*sqlitefile.Editor, error) {
	if err := refuseOpen(path); err != nil {
		return nil, err
	}
	return sqlitefile.Edit(ctx, path, attached)
}

// refuseOpen refuses a chat that is open: its client would continue from what it has read.
func refuseOpen(path string) error {
	if !sqlitefile.HasOpen(path) {
		return nil
	}
	return &formats.Error{Format: name, At: path, Err: fmt.Errorf("%w: its client has it open", formats.ErrBusy), Hint: "quit the client and try again"}
}

// metaAt returns the meta row of the chat in a folder.
func metaAt(ctx context.Context, dir string) (*storedb.Meta, error) {
	path := filepath.Join(dir, storeName)
	value, err := sqlitefile.Value(ctx, path, storedb.MetaTable, storedb.MetaKey, sqlitefile.Options{})
	if err != nil {
		return nil, err
	}
	if row := storedb.ParseMeta(storedb.MetaText(value)); row != nil {
		return row, nil
	}
	return nil, &formats.Error{Format: name, At: path, Pointer: storedb.MetaTable, Err: errors.New("missing or malformed"), Hint: "run `rehome check` on this chat"}
}

// swapRoot replaces the root in the meta row, and nothing else. It returns false if that
// does not name the old one.
func swapRoot(ctx context.Context, e *sqlitefile.Editor, old, root string) (bool, error) {
	row, err := e.One(ctx, "SELECT +value FROM main.meta WHERE key=?1", storedb.MetaKey)
	if err != nil || row == nil {
		return false, err
	}
	value := bytes.Clone(row[0].Bytes())
	text := storedb.MetaText(value)
	if rawjson.TextAt(text, "latestRootBlobId") != old || bytes.Count(text, []byte(`"`+old+`"`)) != 1 {
		return false, nil
	}
	now := bytes.Replace(text, []byte(`"`+old+`"`), []byte(`"`+root+`"`), 1)
	if !bytes.Equal(text, value) {
		now = hex.AppendEncode(nil, now)
	}
	var set any = now
	if row[0].Class == store.Text {
		set = string(now)
	}
	_, err = e.Exec(ctx, "UPDATE main.meta SET value=?1 WHERE key=?2", set, storedb.MetaKey)
	return true, err
}

// listedAt returns the time at which a chat was last used, as its client lists it; 0 if it
// does not say so.
func listedAt(dir string) int64 {
	if at := storedb.Millis(rawjson.Last(readBeside(filepath.Join(dir, besideName)), "updatedAtMs")); at.Known() {
		return at.Millis()
	}
	return 0
}

// setListed replaces this time, unless it is another one or not known. The new file is
// staged at a path on the same disk.
func setListed(dir, staged string, old, now int64) error {
	path := filepath.Join(dir, besideName)
	text := readBeside(path)
	was := []byte(`"updatedAtMs":` + strconv.FormatInt(old, 10))
	if old == 0 || now == 0 || listedAt(dir) != old || bytes.Count(text, was) != 1 {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	text = bytes.Replace(text, was, []byte(`"updatedAtMs":`+strconv.FormatInt(now, 10)), 1)
	f, err := os.OpenFile(staged, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(staged, path)
	}
	return err
}
