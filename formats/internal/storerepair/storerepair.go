// Package storerepair repairs a store.db, the database in which the Cursor CLI and the
// Cursor SDK keep the state of one agent: names of blobs, and the meta row.
package storerepair

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/linerepair"
	"rehome/formats/internal/object"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqliterepair"
	"rehome/formats/internal/storecheck"
	"rehome/formats/internal/storedb"
	"rehome/formats/rule"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// Agent is what is known of an agent without its store.db.
type Agent struct {
	ID, Title string
	Created   int64 // milliseconds since 1970; 0 if unknown
	Rootless  bool  // the meta row does not name the root
}

// File repairs the findings of one store.db.
func File(ctx context.Context, path string, r *formats.Repair, who Agent) error {
	if done, err := sqliterepair.File(ctx, path, r, false); done || err != nil {
		return err
	}
	s := &file{path: path, r: r, who: who, seen: map[string]bool{}}
	for _, f := range r.Findings {
		if s.seen[f.Rule] && f.Rule != "RH302" && f.Rule != "RH403" {
			continue
		}
		s.seen[f.Rule] = true
		var err error
		switch f.Rule {
		case "RH302":
			err = s.rename(ctx, f)
		case "RH303", "RH306", "RH307", "RH308":
			err = s.older(ctx, f)
		case "RH202", "RH401", "RH402":
			err = s.rebuild(ctx, f)
		case "RH403":
			err = s.member(ctx, f)
		}
		if err = sqliterepair.Fatal(ctx, err); err != nil {
			return err
		}
	}
	return nil
}

type file struct {
	path string
	r    *formats.Repair
	who  Agent
	seen map[string]bool
}

// Edit runs f in one transaction on a database.
func Edit(ctx context.Context, path string, f func(e *sqlitefile.Editor) error) error {
	e, err := sqlitefile.Edit(ctx, path, "")
	if err != nil {
		return err
	}
	if err = f(e); err == nil {
		err = e.Commit(ctx)
	}
	return errors.Join(err, e.Close())
}

// rename gives a blob the name that its bytes have.
func (s *file) rename(ctx context.Context, f rule.Finding) error {
	return Edit(ctx, s.path, func(e *sqlitefile.Editor) error {
		row, err := e.One(ctx, "SELECT CAST(data AS BLOB) FROM blobs WHERE rowid=?1", f.At.RowID)
		if err != nil || row == nil {
			return err
		}
		sum := sha256.Sum256(row[0].Bytes())
		id := hex.EncodeToString(sum[:])
		twin, err := e.One(ctx, "SELECT 1 FROM blobs WHERE id=?1 AND rowid<>?2", id, f.At.RowID)
		if err != nil {
			return err
		}
		if twin != nil {
			_, err = e.Exec(ctx, "DELETE FROM blobs WHERE rowid=?1", f.At.RowID)
			s.r.Did(f, "deleted the blob, because the same bytes are stored under their right id", "")
			return err
		}
		_, err = e.Exec(ctx, "UPDATE blobs SET id=?1, data=CAST(data AS BLOB) WHERE rowid=?2", id, f.At.RowID)
		s.r.Did(f, "gave the blob the id of its bytes", "")
		return err
	})
}

// Newest returns the newest root of a store.db whose state is whole, or if lax is set,
// one of which as much is there as can be.
func Newest(ctx context.Context, path string, lax bool) (root string, err error) {
	err = eachBlobs(ctx, path, func(b *storedb.Blobs) error {
		id, found, err := agentstate.NewestSound(ctx, b, b.All(ctx), lax)
		if found {
			root = id.String()
		}
		return err
	})
	return root, err
}

// eachBlobs calls f with the blobs of a store.db, if there are any.
func eachBlobs(ctx context.Context, path string, f func(*storedb.Blobs) error) (err error) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	db, err := sqlitefile.Open(ctx, path, sqlitefile.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, t := range db.Tables() {
		if !strings.EqualFold(t.Name, storedb.BlobsTable) {
			continue
		}
		b, err := storedb.OpenBlobs(ctx, db, t, storedb.Options{})
		if err != nil {
			return err
		}
		return errors.Join(f(b), b.Close())
	}
	return nil
}

// newest returns the newest root or, if there is none, one of all messages, which it stores.
func (s *file) newest(ctx context.Context, lax bool) (root string, gathered bool, err error) {
	if root, err = Newest(ctx, s.path, lax); err != nil || root != "" {
		return root, false, err
	}
	data, err := gather(ctx, s.path)
	if err != nil || data == nil {
		return "", false, err
	}
	sum := sha256.Sum256(data)
	root = hex.EncodeToString(sum[:])
	return root, true, Edit(ctx, s.path, func(e *sqlitefile.Editor) error {
		_, err := e.Exec(ctx, "INSERT INTO blobs (id, data) VALUES (?1, ?2)", root, data)
		return err
	})
}

// gather returns a root of all messages of a store.db, nil if it has none.
func gather(ctx context.Context, path string) (root []byte, err error) {
	err = eachBlobs(ctx, path, func(b *storedb.Blobs) (err error) {
		root, err = agentstate.Gather(ctx, b, b.All(ctx))
		return err
	})
	return root, err
}

// wentBack says which state a store was given.
func (s *file) wentBack(f rule.Finding, root string, gathered bool) {
	if gathered {
		s.r.Did(f, "made a state of the messages, in the order in which they were stored, "+root[:12], GatheredLost)
		return
	}
	s.r.Did(f, "went back to the newest state that is complete, "+root[:12], OlderLost)
}

// GatheredLost says what a state that was made of the messages lacks.
const GatheredLost = "which messages were abandoned, todos, files and subagents"

// OlderLost says what an older state lacks.
const OlderLost = "what the conversation had after that state"

// older makes the meta row name an older state.
func (s *file) older(ctx context.Context, f rule.Finding) error {
	doc := Meta(ctx, s.path)
	if doc == nil {
		return nil
	}
	root, gathered, err := s.newest(ctx, f.Rule == "RH303")
	same := root == rawjson.TextAt(doc, "latestRootBlobId")
	if gathered && same && err == nil {
		s.r.Did(f, "stored the missing state again: one of all messages has its id", "")
	}
	if err != nil || root == "" || same {
		return err
	}
	if err := s.store(ctx, linerepair.SetText(doc, "latestRootBlobId", root)); err != nil {
		return err
	}
	s.wentBack(f, root, gathered)
	return nil
}

// Meta returns the meta row of a store.db, nil if it is not an object.
func Meta(ctx context.Context, path string) []byte {
	b, err := sqlitefile.Value(ctx, path, storedb.MetaTable, storedb.MetaKey, sqlitefile.Options{})
	if err != nil {
		return nil // the check says why
	}
	line, _, err := rawjson.Line(storedb.MetaText(b))
	if err != nil || len(line) == 0 || line[0] != '{' {
		return nil
	}
	return bytes.Clone(line)
}

func (s *file) store(ctx context.Context, doc []byte) error {
	return Edit(ctx, s.path, func(e *sqlitefile.Editor) error {
		if columns, err := e.Columns(ctx, "main", storedb.MetaTable); err != nil || len(columns) == 0 {
			if _, err := e.Exec(ctx, storecheck.MetaSQL); err != nil {
				return err
			}
		}
		n, err := e.Exec(ctx, "UPDATE meta SET value=?1 WHERE key='0'", hex.EncodeToString(doc))
		if err == nil && n == 0 {
			_, err = e.Exec(ctx, "INSERT INTO meta (key, value) VALUES ('0', ?1)", hex.EncodeToString(doc))
		}
		return err
	})
}

// rebuild writes the meta row anew.
func (s *file) rebuild(ctx context.Context, f rule.Finding) error {
	if s.who.ID == "" {
		return nil
	}
	root, state := "", "with the newest state that is complete"
	if !s.who.Rootless {
		var gathered bool
		var err error
		if root, gathered, err = s.newest(ctx, true); err != nil || root == "" {
			return err
		}
		if gathered {
			state = "with a state of the messages in the order in which they were stored"
		}
	}
	o := object.New(nil)
	o.Text("agentId", s.who.ID)
	o.Text("latestRootBlobId", root)
	title := s.who.Title
	if title == "" {
		title = "New Agent"
	}
	o.Text("name", title)
	o.Text("mode", storedb.DefaultMode)
	o.Flag("isRunEverything", false)
	created := s.who.Created
	if created == 0 {
		created = session.FirstMoment
	}
	o.Raw("createdAt", fmt.Append(nil, created))
	if err := s.store(ctx, o.Done()); err != nil {
		return err
	}
	lost := "the mode, the model and the settings of the agent"
	if s.who.Title == "" {
		lost = "its name, " + lost
	}
	s.r.Did(f, "wrote the row again, "+state, lost)
	return nil
}

// member gives a member of the meta row a value that the client reads.
func (s *file) member(ctx context.Context, f rule.Finding) error {
	doc := Meta(ctx, s.path)
	if doc == nil {
		return nil
	}
	name := strings.TrimPrefix(f.Pointer, "/")
	switch name {
	case "createdAt":
		created := s.who.Created
		if created == 0 {
			created = session.FirstMoment
		}
		doc = linerepair.Set(doc, name, fmt.Append(nil, created))
		s.r.Did(f, "set the time of creation", "the time as it was")
	case "latestRootBlobId":
		root, gathered := "", false
		if !s.who.Rootless {
			var err error
			if root, gathered, err = s.newest(ctx, true); err != nil {
				return err
			}
		}
		doc = linerepair.SetText(doc, name, root)
		if root == "" {
			s.r.Did(f, "made the root empty", "")
		} else if gathered {
			s.wentBack(f, root, gathered)
		} else {
			s.r.Did(f, "set the newest state that is complete, "+root[:12], "which state the member meant")
		}
	case "agentId", "name", "mode":
		to := map[string]string{"agentId": s.who.ID, "name": s.who.Title, "mode": storedb.DefaultMode}[name]
		if name == "agentId" && to == "" {
			return nil
		}
		doc = linerepair.SetText(doc, name, to)
		s.r.Did(f, "set the member to "+strconv.Quote(rule.Clip(to)), "")
	default:
		doc = linerepair.Remove(doc, name)
		s.r.Did(f, "removed the member, which was null", "")
	}
	return s.store(ctx, doc)
}
