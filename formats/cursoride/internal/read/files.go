package read

import (
	"path/filepath"
	"strings"

	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/members"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// edit is a call that changed a file whose content is stored by its hash.
type edit struct{ path, call, before, after string }

// edited records the file of a call.
func (c *Chat) edited(t tool) {
	if t.before != "" || t.after != "" {
		c.edits = append(c.edits, edit{filePath(t.path), t.call.ID, t.before, t.after})
	}
}

// files yields the snapshots that the client kept: the content before and after each
// edit, and that of each file before the session.
func (w *walk) files(yield func(*session.File, error) bool) {
	w.drain() // the calls are known after the messages
	seen := map[string]bool{}
	for _, e := range w.edits {
		f := &session.File{Path: e.path, Extras: []session.Extra{{Name: "call", Raw: session.AppendString(nil, e.call)}}}
		for _, side := range []struct {
			to *(*session.Body)
			id string
		}{{&f.Before, e.before}, {&f.After, e.after}} {
			body, at, err := w.content(lists.ContentRow+side.id, side.id, seen)
			if err != nil {
				yield(nil, err)
				return
			}
			if body != nil {
				*side.to = body
			}
			if at != "" {
				f.Origin = append(f.Origin, at)
			}
		}
		if !yield(f, nil) {
			return
		}
	}
	if w.untouched(yield) && w.snapshots(yield) && w.stateFiles != nil {
		w.stateFiles(yield)
	}
}

// content reads the content of a file. seen prevents counting a row twice that several
// edits name.
func (w *walk) content(key, id string, seen map[string]bool) (*session.Body, string, error) {
	if id == "" {
		return nil, "", nil
	}
	if w.Database == nil || w.Database.Disk == nil {
		return nil, "", nil
	}
	found, ok, err := w.Database.Disk.Get(w.ctx, key, lists.MaxValue)
	if err != nil {
		return nil, "", err
	}
	if !ok {
		if id == lists.EmptyContent {
			return &session.Body{}, "", nil
		}
		if !seen[key] {
			seen[key] = true
			w.note.Add(loss.Loss{Code: loss.FileStateMissing, At: w.addr})
		}
		return nil, "", nil
	}
	at := w.Database.Addr(lists.DiskTable, key, found.RowID)
	long := found.Bytes == nil && found.Size > 0
	if !seen[key] {
		seen[key] = true
		w.tally.Read++
		if long {
			w.tally.Unreadable++
			w.note.Add(lists.TooLong(at))
		} else {
			w.tally.Converted++
		}
	}
	if found.Class == store.Null || long {
		return nil, at.String(), nil
	}
	return &session.Body{Bytes: found.Bytes}, at.String(), nil
}

// untouched yields the files as they were before the session, by URI; false if the
// consumer has stopped.
func (w *walk) untouched(yield func(*session.File, error) bool) bool {
	seen := map[string]bool{}
	for name, value := range rawjson.Members(w.originals) {
		uri := string(name)
		f := &session.File{Path: filePath(uri), Origin: []string{w.addr.String()}}
		for n, v := range rawjson.Members(value) {
			if string(n) == "content" && rawjson.IsText(v) {
				f.Before = &session.Body{Bytes: []byte(rawjson.Text(v))}
			} else if !members.Empty(v) {
				f.Extras = append(f.Extras, session.Extra{Name: string(n), Raw: members.Bare(string(n), v)})
			}
		}
		if !members.Empty(value) && value[0] != '{' {
			f.Extras = append(f.Extras, session.Extra{Name: "originalFileStates." + uri, Raw: value})
		}
		if a := w.aside(lists.OriginalRow, uri); a != nil {
			if err := w.original(f, a, seen); err != nil {
				return yield(nil, err) && false
			}
		}
		if !yield(f, nil) {
			return false
		}
	}
	for i := range w.asides { // those that the session's record does not list
		a := &w.asides[i]
		if a.family != lists.OriginalRow || a.used {
			continue
		}
		f := &session.File{Path: filePath(a.rest)}
		if err := w.original(f, a, seen); err != nil {
			return yield(nil, err) && false
		}
		if !yield(f, nil) {
			return false
		}
	}
	return true
}

// original reads the text of a file from a row of its own.
func (w *walk) original(f *session.File, a *aside, seen map[string]bool) error {
	a.used = true
	body, at, err := w.content(lists.OriginalRow+w.ID+":"+a.rest, a.rest, seen)
	if err != nil {
		return err
	}
	if f.Before == nil {
		f.Before = body
	}
	f.Origin = append(f.Origin, at)
	return nil
}

// side adds a record to the message of its prompt.
func (d *assembler) side(a *aside, m *session.Message) error {
	c := d.chat
	found, at, fate, err := c.Database.Find(c.ctx, a.family+c.ID+":"+a.rest, d.sink)
	if err != nil {
		return err
	}
	m.Origin = append(m.Origin, at.String())
	if a.family == lists.BubbleRootRow {
		c.count(fate)
		if fate == lists.Claimed {
			m.Extras = append(m.Extras, session.Extra{Name: strings.TrimSuffix(a.family, ":"), Raw: session.AppendString(nil, string(found.Bytes))})
		}
		return nil
	}
	var body []byte
	if fate == lists.Claimed {
		body, fate = lists.Line(found.Bytes, at, d.sink)
	}
	c.count(fate)
	if body != nil {
		m.Parts = append(m.Parts, &session.Injected{Tag: "request_context", Data: members.Bare("request", body)})
	}
	return nil
}

// leftovers carries the records of a session that no message uses, each in a message
// of its own after the conversation.
func (d *assembler) leftovers() error {
	c := d.chat
	for i := range c.asides {
		a := &c.asides[i]
		switch {
		case a.used, a.family == lists.OriginalRow, a.family == lists.CheckpointRow, a.family == lists.DiffRow:
			continue // files
		case a.family == lists.FateRow && c.aside(lists.DiffRow, a.rest) != nil:
			continue
		}
		a.used = true
		found, at, fate, err := c.Database.Find(c.ctx, a.family+c.ID+":"+a.rest, d.sink)
		if err != nil {
			return err
		}
		if fate != lists.Claimed {
			c.count(fate)
			continue
		}
		d.tally.Read++
		body, _, jerr := rawjson.Line(found.Bytes)
		if jerr != nil {
			body = session.AppendString(nil, string(found.Bytes))
		}
		d.tally.CarriedRaw++
		kind := strings.TrimSuffix(a.family, ":")
		d.put(&session.Message{ID: kind + "-" + a.rest, Role: session.System, Simulated: true, Origin: []string{at.String()},
			Parts: []session.Part{&session.Opaque{Kind: kind, Raw: members.Bare(kind, body)}}})
	}
	return nil
}

// picture reads an image file beside the database. It opens nothing outside of the
// store.
func (c *Chat) picture(m *session.Media) {
	at := strings.ReplaceAll(m.URI, `\`, "/")
	_, rel, ok := strings.Cut(at, "/"+lists.SpacesName+"/")
	if !ok {
		return
	}
	parts := strings.Split(rel, "/")
	s := c.x.Workspace(parts[0])
	if s == nil || len(parts) != 3 || parts[1] != "images" || !filepath.IsLocal(parts[2]) {
		return
	}
	if b := smallFile(filepath.Join(s.Dir, "images", parts[2])); b != nil {
		m.Data = b
		m.Name = parts[2]
	}
}
