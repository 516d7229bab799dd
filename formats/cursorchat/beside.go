package cursorchat

import (
	"bytes"
	"context"
	"os"
	"path/filepath"

	"rehome/formats"
	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/filename"
	"rehome/formats/internal/secret"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/internal/storedb"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

const (
	maxBeside    = 16 << 20 // bytes of a file beside the database
	maxNeighbors = 1000
)

// beside reads the JSON files of a chat's folder.
func (d *decoder) beside(l *formats.Location, s *session.Session) error {
	_, files, err := d.shape.FilesFor(l, formats.View{})
	if err != nil {
		return err
	}
	for _, f := range files {
		if use(f.Path) != sqlitestore.Plain {
			continue
		}
		info, err := os.Stat(f.Name)
		if err != nil {
			return &formats.Error{Format: name, At: f.Name, Err: formats.Cause(err)}
		}
		records := (info.Size() + store.PieceBytes - 1) / store.PieceBytes
		d.tally.Read += records
		if d.besideFile(s, f, info.Size()) {
			d.tally.Converted += records
		} else {
			d.tally.Unreadable += records
		}
	}
	return nil
}

// besideOne reads the file next to a database that is the source by itself. It states
// whose chat it is, and is not a record of the source.
func (d *decoder) besideOne(s *session.Session) {
	text := readBeside(filepath.Join(d.dir, besideName))
	if text == nil {
		return
	}
	books := d.tally
	for n, v := range rawjson.Members(d.json(text, store.Addr{File: besideName})) {
		d.besideMember(s, string(n), v)
	}
	d.tally = books
}

func (d *decoder) besideFile(s *session.Session, f sqlitestore.File, size int64) bool {
	at := store.Addr{File: f.Path}
	if size > maxBeside {
		d.note(loss.FileTooLarge, at)
		return false
	}
	text, err := os.ReadFile(f.Name)
	if err != nil {
		d.note(loss.FileUnreadable, at)
		return false
	}
	if len(text) == 0 {
		return true
	}
	if f.Path != besideName {
		return d.otherFile(s, f.Path, text, at)
	}
	doc := d.json(text, at)
	for n, v := range rawjson.Members(doc) {
		d.besideMember(s, string(n), v)
	}
	return doc != nil
}

// otherFile keeps a JSON file as it is, such as prompt_history.json.
func (d *decoder) otherFile(s *session.Session, path string, text []byte, at store.Addr) bool {
	held, err := secret.Holds(bytes.NewReader(text))
	line, _, bad := rawjson.Line(text)
	switch {
	case held || err != nil:
		d.note(loss.FileWithSecret, at)
		return false
	case bad != nil:
		d.note(loss.FileNotJSON, at)
		return false
	}
	d.extra(s, path, line)
	return true
}

func (d *decoder) besideMember(s *session.Session, name string, v []byte) {
	text := rawjson.Text(v)
	switch {
	case name == "cwd" && text != "":
		s.Workspace = text
	case name == "title" && text != "":
		if s.Title != "" && s.Title != text {
			s.Extras = append(s.Extras, session.Extra{Name: "meta.name", Raw: session.AppendString(nil, s.Title)})
		}
		s.Title = text
	case name == "createdAtMs" && storedb.Millis(v).Known() && (!s.Created.Known() || s.Created == storedb.Millis(v)):
		s.Created = storedb.Millis(v)
	case name == "updatedAtMs" && storedb.Millis(v).Known():
		s.Updated = storedb.Millis(v)
	default:
		d.extra(s, besideName+"."+name, v)
		return
	}
	d.taken(1)
}

// settle combines what the folder, the meta row and the file beside the database state.
func (d *decoder) settle(s *session.Session) {
	switch folder := placed(d.dir); {
	case folder != "":
		if s.ID != "" && s.ID != folder {
			s.Extras = append(s.Extras, session.Extra{Name: "meta.agentId", Raw: session.AppendString(nil, s.ID)})
		}
		s.ID = folder
	case s.ID == "":
		s.ID = invented(d.path)
		d.note(loss.ChatIDGuessed, store.Addr{File: d.file, Set: "meta"})
	}
	if d.view.Cwd != "" {
		s.Workspace = d.view.Cwd
	}
	hash := filepath.Base(filepath.Dir(d.dir))
	if s.Workspace != "" && d.dir != "" && d.view.Cwd == "" && filename.IsHash(hash) && filename.HashOf(s.Workspace) != hash {
		s.Extras = append(s.Extras, session.Extra{Name: "workspaceHash", Raw: session.AppendString(nil, hash)})
	}
}

// neighbors finds the workspace in the chats of the same folder, whose name is its
// hash.
func (d *decoder) neighbors(s *session.Session) {
	folder := filepath.Dir(d.dir)
	hash := filepath.Base(folder)
	if !filename.IsHash(hash) {
		return
	}
	list, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for i, e := range list {
		if i >= maxNeighbors {
			return
		}
		doc := readBeside(filepath.Join(folder, e.Name(), besideName))
		if cwd := rawjson.TextAt(doc, "cwd"); cwd != "" && filename.HashOf(cwd) == hash {
			s.Workspace = cwd
			d.note(loss.WorkspaceNeighbor, store.Addr{File: d.file})
			return
		}
	}
}

// root returns the state to read, and the blobs that it is among: the one that the meta row
// names or, if that is missing, the one that was stored last or, if there is none, one of all
// messages. If that has the id of the one that is missing, it is the same.
func (d *decoder) root(ctx context.Context, m *meta, s *session.Session) (agentstate.Blobs, agentstate.ID, error) {
	id, named := agentstate.ParseID(m.root)
	if named && d.blobs.Has(id) {
		return d.blobs, id, nil
	}
	newest, found, err := agentstate.Newest(ctx, d.blobs, d.blobs.All(ctx))
	at := store.Addr{File: d.file, Set: "meta"}
	if err == nil && found {
		d.note(loss.LastStateUsed, at)
		return d.blobs, newest, nil
	}
	var root []byte
	if err == nil {
		root, err = agentstate.Gather(ctx, d.blobs, d.blobs.All(ctx))
	}
	if err != nil || root == nil && m.root == "" {
		return nil, id, err
	}
	blobs, made := agentstate.WithRoot(d.blobs, root)
	if named && made == id {
		d.gathered = 1 // and proven to be the one that is missing
		return blobs, id, nil
	}
	if m.root != "" {
		s.Missing = append(s.Missing, "the conversation: its root is missing")
	}
	if root == nil {
		d.note(loss.StateMissing, at)
		return nil, id, nil
	}
	d.note(loss.StateGathered, at)
	d.gathered = 1
	return blobs, made, nil
}
