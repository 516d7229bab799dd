package into

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sdkstore"
	"rehome/formats/internal/sqlitefile"
)

// extend adds the runs of an agent to those that it has, and gives it the root that
// continues its own. All that the agent has stays.
func (x *addition) extend(ctx context.Context, id string) error {
	before, err := digest(ctx, x.Editor, "main", x.cols.all, id)
	if err == nil && before == "" {
		err = &formats.Error{At: x.index(), Err: errors.New("no agent " + id)}
	}
	if err != nil {
		return err
	}
	was, err := rootOf(ctx, x.Editor, id)
	if err == nil && was != x.Root {
		err = formats.Changed(sdkstore.FormatName, x.index())
	}
	if err != nil || x.DryRun {
		return err
	}
	ids := []string{id}
	x.log.Agents, x.log.Replaced = []agentChange{{ID: id, Before: before}}, true
	if err := x.keepRows(ctx, ids); err != nil {
		return err
	}
	if err := x.addRuns(ctx, id); err != nil {
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
func rootOf(ctx context.Context, e *sqlitefile.Editor, id string) (string, error) {
	row, err := e.One(ctx, "SELECT +latest_checkpoint_ref_json FROM main.agents WHERE agent_id=?1", id)
	if err != nil || row == nil {
		return "", err
	}
	root, _ := sdkdoc.RootOf(row[0].Bytes())
	return root, nil
}

// addRuns adds the runs and events, and lets the agent refer to the new root. The client
// numbers the next run by how many there are, so there is no gap.
func (x *addition) addRuns(ctx context.Context, id string) error {
	order := tables()
	for i, t := range order[1:] {
		names := list(x.cols.common[i+1], "")
		values := strings.Replace(names, `"turn_number"`, "(SELECT coalesce(max(turn_number), 0) FROM main.runs WHERE agent_id=?1) + turn_number - (SELECT min(turn_number) FROM "+sqlitefile.Attached+".runs) + 1", 1)
		if _, err := x.Exec(ctx, "INSERT INTO main."+t.name+" ("+names+") SELECT "+values+" FROM "+sqlitefile.Attached+"."+t.name+" WHERE "+t.where(sqlitefile.Attached)+" ORDER BY rowid", id); err != nil {
			return err
		}
	}
	_, err := x.Exec(ctx, `UPDATE main.agents SET latest_checkpoint_ref_json=n.latest_checkpoint_ref_json, updated_at=max(main.agents.updated_at, n.updated_at)
		FROM `+sqlitefile.Attached+`.agents AS n WHERE n.agent_id=?1 AND main.agents.agent_id=?1`, id)
	return err
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
