package read

import (
	"bytes"

	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/members"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// Files as they stood at a prompt, or around an edit, are kept as changes of
// what the file held before the session. Spelled out they would grow with
// their number: so much of it is given per byte that is read, then the changes
// themselves.
const (
	freeText    = 16 << 20
	maxPerBytes = 8
)

// texts bounds what changes are spelled out to.
type texts struct{ given, read int64 }

func (t *texts) room(n int) bool { return t.given+int64(n) <= freeText+maxPerBytes*t.read }

// snapshots are the checkpoints and the edits of a session that were kept as
// changes of lines. false: the consumer has had enough.
func (w *walk) snapshots(yield func(*session.File, error) bool) bool {
	uris := w.diffURIs()
	for i := range w.asides {
		a := &w.asides[i]
		if a.used || a.family != lists.CheckpointRow && a.family != lists.DiffRow {
			continue
		}
		a.used = true
		r, err := w.Database.GetListed(w.ctx, a.family+w.ID+":"+a.rest, w.note)
		if err != nil {
			return yield(nil, err) && false
		}
		w.Chat.count(r.Fate)
		if r.Body == nil {
			continue
		}
		w.texts.read += int64(len(r.Body))
		if a.family == lists.DiffRow {
			if !w.diff(a, r, uris[a.rest], yield) {
				return false
			}
		} else if !w.checkpoint(a, r, yield) {
			return false
		}
	}
	return true
}

// diffURIs says which file the changes of an edit are of, as the session's
// record lists them: {uri: {block: {"diffId":…}}}.
func (w *walk) diffURIs() map[string]string {
	out := map[string]string{}
	for uri, blocks := range rawjson.Members(w.blocks) {
		for _, block := range rawjson.Members(blocks) {
			for _, name := range [...]string{"diffId", "latestDiffId"} {
				if id := rawjson.TextAt(block, name); id != "" {
					out[id] = string(uri)
				}
			}
		}
	}
	return out
}

// checkpoint gives the files of one checkpoint.
func (w *walk) checkpoint(a *aside, r lists.Row, yield func(*session.File, error) bool) bool {
	var rest []session.Extra
	var list []byte
	for name, v := range rawjson.Members(r.Body) {
		w.tally.Members++
		if string(name) == "files" && list == nil && len(v) > 0 && v[0] == '[' {
			list = v
			w.tally.MembersConverted++
		} else if members.Empty(v) || string(v) == `{"files":[],"folders":[]}` {
			w.tally.MembersConverted++
		} else {
			w.tally.MembersRaw++
			rest = append(rest, session.Extra{Name: string(name), Raw: members.Bare(string(name), v)})
		}
	}
	id := session.Extra{Name: "checkpoint", Raw: session.AppendString(nil, a.rest)}
	given := false
	for value := range rawjson.Elements(list) {
		uri := lists.URIText(rawjson.Last(value, "uri"))
		f := &session.File{Path: filePath(uri), Origin: []string{r.Addr.String()}, Extras: []session.Extra{id}}
		if f.Path == "" {
			f.Path = rawjson.TextAt(value, "uri", "fsPath")
		}
		for name, v := range rawjson.Members(value) {
			switch string(name) {
			case "uri":
			case "originalModelDiffWrtV0":
				w.applied(&f.After, f, string(name), uri, v)
			default:
				if !members.Empty(v) {
					f.Extras = append(f.Extras, session.Extra{Name: string(name), Raw: members.Bare(string(name), v)})
				}
			}
		}
		if !given {
			f.Extras, given = append(f.Extras, rest...), true
		}
		if !yield(f, nil) {
			return false
		}
	}
	if given || len(rest) == 0 {
		return true
	}
	return yield(&session.File{Origin: []string{r.Addr.String()}, Extras: append([]session.Extra{id}, rest...)}, nil)
}

// diff gives what a file held before and after an edit.
func (w *walk) diff(a *aside, r lists.Row, uri string, yield func(*session.File, error) bool) bool {
	f := &session.File{Path: filePath(uri), Origin: []string{r.Addr.String()}}
	f.Extras = append(f.Extras, session.Extra{Name: "diff", Raw: session.AppendString(nil, a.rest)})
	for name, v := range rawjson.Members(r.Body) {
		w.tally.Members++
		w.tally.MembersConverted++
		switch string(name) {
		case "originalModelDiffWrtV0":
			w.applied(&f.Before, f, string(name), uri, v)
		case "newModelDiffWrtV0":
			w.applied(&f.After, f, string(name), uri, v)
		default:
			w.tally.MembersConverted--
			w.tally.MembersRaw++
			f.Extras = append(f.Extras, session.Extra{Name: string(name), Raw: members.Bare(string(name), v)})
		}
	}
	if fates := w.aside(lists.FateRow, a.rest); fates != nil {
		fates.used = true
		r, err := w.Database.GetListed(w.ctx, lists.FateRow+w.ID+":"+a.rest, w.note)
		if err != nil {
			return yield(nil, err) && false
		}
		w.Chat.count(r.Fate)
		if r.Body != nil {
			f.Extras = append(f.Extras, session.Extra{Name: "fates", Raw: members.Bare("fates", r.Body)})
			f.Origin = append(f.Origin, r.Addr.String())
		}
	}
	return yield(f, nil)
}

// applied spells a change out, or keeps it as it is.
func (w *walk) applied(to **session.Body, f *session.File, name, uri string, changes []byte) {
	if base, ok := w.base(uri); ok && w.texts.room(len(base)+len(changes)) {
		text, ok := patched(base, changes)
		if ok {
			w.texts.given += int64(len(text))
			*to = &session.Body{Bytes: text}
			return
		}
		w.texts.given += int64(len(base)) // it was looked through in vain
	}
	f.Extras = append(f.Extras, session.Extra{Name: name, Raw: bytes.Clone(changes)})
}

// base is what a file held before the session.
func (w *walk) base(uri string) ([]byte, bool) {
	if uri == "" {
		return nil, false
	}
	if uri == w.baseOf {
		return w.baseText, w.baseText != nil
	}
	w.baseOf, w.baseText = uri, nil
	if w.heldBefore == nil {
		w.heldBefore = map[string][]byte{}
		for name, value := range rawjson.Members(w.originals) {
			w.heldBefore[string(name)] = value
		}
	}
	if v := rawjson.Last(w.heldBefore[uri], "content"); rawjson.IsText(v) {
		w.baseText = append([]byte{}, rawjson.Text(v)...)
	} else if a := w.aside(lists.OriginalRow, uri); a != nil {
		f, ok, err := w.Database.Disk.Get(w.ctx, lists.OriginalRow+w.ID+":"+uri, lists.MaxValue)
		if err == nil && ok {
			w.baseText = f.Bytes
		}
	}
	w.texts.read += int64(len(w.baseText))
	return w.baseText, w.baseText != nil
}
