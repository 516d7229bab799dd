package into

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sqlitefile"
)

// extend adds the runs of an agent to those that it has. All that the agent has stays:
// its new root is the old one, with the prompts and turns of the added one after it.
func (x *addition) extend(ctx context.Context, ids []string) error {
	id := ids[0]
	x.out.Was = formats.Continued
	before, err := digest(ctx, x.Editor, "main", x.cols.all, id)
	if err == nil && before == "" {
		err = &formats.Error{At: x.index(), Err: errors.New("no agent " + id)}
	}
	if err != nil || x.DryRun {
		return err
	}
	x.log.Agents, x.log.Replaced = []agentChange{{ID: id, Before: before}}, true
	if err := x.keepRows(ctx, ids); err != nil {
		return err
	}
	was, err := rootOf(ctx, x.Editor, "main", id)
	if err != nil {
		return err
	}
	added, err := rootOf(ctx, x.Editor, sqlitefile.Attached, id)
	if err != nil {
		return err
	}
	root, err := joinRoots(ctx, storeOf(x.To, id), was, storeOf(x.From, id), added)
	if err != nil {
		return err
	}
	if err := x.addRuns(ctx, id, added, root); err != nil {
		return err
	}
	if x.log.Agents[0].After, err = digest(ctx, x.Editor, "main", x.cols.all, id); err != nil {
		return err
	}
	if err := x.joinTranscripts(); err != nil {
		return err
	}
	return x.perform(ctx, ids)
}

// rootOf returns the id of an agent's root blob, "" if it has none.
func rootOf(ctx context.Context, e *sqlitefile.Editor, schema, id string) (string, error) {
	row, err := e.One(ctx, "SELECT +latest_checkpoint_ref_json FROM "+schema+".agents WHERE agent_id=?1", id)
	var ref struct {
		BlobID string `json:"blobId"`
	}
	if err == nil && row != nil && len(row[0].Bytes()) > 0 {
		err = json.Unmarshal(row[0].Bytes(), &ref)
	}
	return ref.BlobID, err
}

// addRuns adds the runs and events, and lets the agent and its last run refer to a root.
// The client numbers the next run by how many there are, so there is no gap.
func (x *addition) addRuns(ctx context.Context, id, added, root string) error {
	order := tables()
	for i, t := range order[1:] {
		names := list(x.cols.common[i+1], "")
		values := strings.Replace(names, `"turn_number"`, "(SELECT coalesce(max(turn_number), 0) FROM main.runs WHERE agent_id=?1) + turn_number - (SELECT min(turn_number) FROM "+sqlitefile.Attached+".runs) + 1", 1)
		values = strings.Replace(values, `"latest_checkpoint_ref_json"`, "replace(latest_checkpoint_ref_json, ?2, ?3)", 1)
		args := []any{id, added, root}
		if i > 0 {
			args = args[:1]
		}
		if _, err := x.Exec(ctx, "INSERT INTO main."+t.name+" ("+names+") SELECT "+values+" FROM "+sqlitefile.Attached+"."+t.name+" WHERE "+t.where(sqlitefile.Attached)+" ORDER BY rowid", args...); err != nil {
			return err
		}
	}
	_, err := x.Exec(ctx, `UPDATE main.agents SET latest_checkpoint_ref_json=replace(n.latest_checkpoint_ref_json, ?2, ?3), updated_at=max(main.agents.updated_at, n.updated_at)
		FROM `+sqlitefile.Attached+`.agents AS n WHERE n.agent_id=?1 AND main.agents.agent_id=?1`, id, added, root)
	return err
}

// rootLists are the lists of a root that continue those of the one before: prompt
// messages, turns, and their timings.
func rootLists() map[uint64]bool { return map[uint64]bool{1: true, 8: true, 14: true} }

// joinRoots puts a root in front of another one, as a new blob next to the latter. Two
// encoded messages, one after the other, are one message with the lists of both.
func joinRoots(ctx context.Context, first, firstID, second, secondID string) (id string, err error) {
	if firstID == "" {
		return secondID, nil
	}
	if _, err := os.Lstat(second); err != nil {
		return firstID, missingIsFine(err)
	}
	e, err := sqlitefile.Edit(ctx, second, first)
	if err != nil {
		return "", err
	}
	defer e.Close()
	row, err := e.One(ctx, "SELECT +o.data, +n.data FROM "+sqlitefile.Attached+".blobs AS o, main.blobs AS n WHERE o.id=?1 AND n.id=?2", firstID, secondID)
	if err == nil && row == nil {
		err = errors.New("the root of the conversation is missing")
	}
	if err != nil {
		return "", &formats.Error{At: first, Pointer: "blobs", Err: err}
	}
	lists, err := onlyLists(row[1].Bytes())
	if err != nil {
		return "", &formats.Error{At: second, Pointer: "blobs", Err: err}
	}
	data := append(append([]byte(nil), row[0].Bytes()...), lists...)
	sum := sha256.Sum256(data)
	id = hex.EncodeToString(sum[:])
	if _, err := e.Exec(ctx, "INSERT OR IGNORE INTO main.blobs (id, data) VALUES (?1, ?2)", id, data); err != nil {
		return "", err
	}
	return id, errors.Join(e.Commit(ctx), e.Close())
}

// onlyLists returns the fields of a root that are in rootLists.
func onlyLists(root []byte) (out []byte, err error) {
	for len(root) > 0 {
		key, n := binary.Uvarint(root)
		if n <= 0 {
			return nil, errors.New("malformed root")
		}
		size := uint64(0)
		switch rest := root[n:]; key & 7 {
		case 0:
			_, k := binary.Uvarint(rest)
			size = uint64(max(k, 0))
		case 1:
			size = 8
		case 2:
			length, k := binary.Uvarint(rest)
			if k <= 0 || length > uint64(len(rest)) {
				return nil, errors.New("malformed root")
			}
			size = uint64(k) + length
		case 5:
			size = 4
		}
		if size == 0 || size > uint64(len(root)-n) {
			return nil, errors.New("malformed root")
		}
		field := root[:uint64(n)+size]
		if root = root[len(field):]; rootLists()[key>>3] {
			out = append(out, field...)
		}
	}
	return out, nil
}

// joinTranscripts puts what the transcripts have in front of what is added.
func (x *addition) joinTranscripts() error {
	from, to := filepath.Join(x.From, sdkdoc.Transcripts), transcriptsOf(x.To)
	list, err := filepath.Glob(filepath.Join(from, "*", "*"))
	for _, p := range list {
		rel, e := filepath.Rel(from, p)
		if e != nil {
			return e
		}
		was := filepath.Join(to, rel)
		if _, e := os.Stat(was); errors.Is(e, fs.ErrNotExist) {
			continue // the client writes it again with the next turn
		}
		if e := joinLines(was, p); e != nil {
			return &formats.Error{At: was, Err: formats.Cause(e)}
		}
	}
	return err
}

// joinLines puts the lines of a file in front of those of another one.
func joinLines(first, second string) error {
	joined := second + ".joined"
	out, err := os.OpenFile(joined, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = appendFile(out, first); err == nil {
		err = endLine(out)
	}
	if err == nil {
		err = appendFile(out, second)
	}
	if err = errors.Join(err, out.Close()); err == nil {
		err = os.Rename(joined, second)
	}
	return err
}

func appendFile(out *os.File, path string) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, in.Close())
}

// endLine ends the last line of a file, if it does not end.
func endLine(f *os.File) error {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil || size == 0 {
		return err
	}
	var last [1]byte
	if _, err = f.ReadAt(last[:], size-1); err == nil && last[0] != '\n' {
		_, err = f.WriteString("\n")
	}
	return err
}
