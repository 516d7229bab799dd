package cursorndjson

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"

	"rehome/formats"
	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/linerepair"
	"rehome/formats/internal/lines"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/rule"
	"rehome/internal/rawjson"
)

// repair repairs a file of agents.
func repair(ctx context.Context, path string, r *formats.Repair) error {
	done, err := linerepair.Text(ctx, path, r)
	if done || err != nil {
		return err
	}
	m := &mender{ctx: ctx, r: r, dir: filepath.Dir(path), byLine: map[int][]rule.Finding{}, roots: map[string]string{}}
	for _, f := range r.Findings {
		if f.At.Line > 0 {
			m.byLine[f.At.Line] = append(m.byLine[f.At.Line], f)
		}
		m.twins = m.twins || f.Rule == "RH318" || f.Rule == "RH327"
	}
	if len(m.byLine) == 0 {
		return nil
	}
	return linerepair.Rewrite(ctx, path, r, m.line)
}

// mender repairs one file.
type mender struct {
	ctx    context.Context
	r      *formats.Repair
	dir    string
	byLine map[int][]rule.Finding
	roots  map[string]string // newest whole states, by agent
	twins  bool              // a line may repeat an earlier one
	seen   map[[sha256.Size]byte]bool
}

// line writes one line as it should be.
func (m *mender) line(w *linerepair.Writer, l *lines.Line) error {
	if l.Long {
		return w.Copy(l)
	}
	again := false
	if m.twins {
		if m.seen == nil {
			m.seen = map[[sha256.Size]byte]bool{}
		}
		sum := sha256.Sum256(l.Bytes)
		again = m.seen[sum]
		m.seen[sum] = true
	}
	findings := m.byLine[l.Number]
	b := l.Bytes
	for _, f := range findings {
		var err error
		switch f.Rule {
		case "RH302":
			b = m.name(b, f)
		case "RH303":
			b, err = m.checkpoint(b, f)
		case "RH317":
			if seq := rawjson.Last(b, "seq"); len(seq) > 0 {
				b = linerepair.SetText(b, "offset", string(seq))
				m.r.Did(f, "set the offset to the event's number", "")
			}
		case "RH318", "RH327":
			if again {
				m.r.Did(f, "deleted the line, which repeats an earlier one", "")
				return nil
			}
		case "RH320":
			b = linerepair.Set(b, "idempotencyKey", []byte("null"))
			m.r.Did(f, "cleared the key of the later event", "that key")
		case "RH321":
			b = linerepair.Set(b, "activeRunId", []byte("null"))
			m.r.Did(f, "cleared the active run", "")
		}
		if err != nil {
			return err
		}
	}
	return w.Copy(&lines.Line{Bytes: b, Ended: l.Ended})
}

// name gives a checkpoint the id of its bytes, if those can be read.
func (m *mender) name(b []byte, f rule.Finding) []byte {
	data, err := base64.StdEncoding.DecodeString(rawjson.TextAt(b, "dataBase64"))
	if err != nil || len(data) == 0 {
		return b
	}
	sum := sha256.Sum256(data)
	id := hex.EncodeToString(sum[:])
	if id == rawjson.TextAt(b, "blobId") {
		return b
	}
	m.r.Did(f, "gave the blob the id of its bytes", "")
	return linerepair.SetText(b, "blobId", id)
}

// checkpoint replaces a checkpoint that is missing: that of an agent by its newest whole
// state, that of a run by nothing.
func (m *mender) checkpoint(b []byte, f rule.Finding) ([]byte, error) {
	for _, name := range []string{"startCheckpointRef", "latestCheckpointRef"} {
		if f.Pointer == "/"+name+"/rootBlobId" {
			m.r.Did(f, "cleared the run's checkpoint", "")
			return linerepair.Set(b, name, []byte("null")), nil
		}
	}
	const member = "latestCheckpoint"
	if f.Pointer != "/"+member+"/rootBlobId" {
		return b, nil
	}
	root, err := m.newest(rawjson.TextAt(b, "agentId"))
	if err != nil {
		return b, err
	}
	if root == "" {
		m.r.Did(f, "cleared the checkpoint: no state of the agent is left", "what the model knows of the conversation")
		return linerepair.Set(b, member, []byte("null")), nil
	}
	m.r.Did(f, "went back to the newest state that is complete, "+root[:12], "what the conversation had after that state")
	return linerepair.Set(b, member, linerepair.SetText(rawjson.Last(b, member), "rootBlobId", root)), nil
}

// newest returns the newest whole state of an agent, "" if there is none.
func (m *mender) newest(agent string) (root string, err error) {
	if root, ok := m.roots[agent]; ok {
		return root, nil
	}
	f, err := os.Open(filepath.Join(m.dir, sdkdoc.Checkpoint.File()))
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	x := &blobLines{f: f, at: map[agentstate.ID]blobLine{}}
	if err := x.read(m.ctx, agent); err != nil {
		return "", err
	}
	id, found, err := agentstate.NewestSound(m.ctx, x, x.all(), true)
	if err == nil && found {
		root = id.String()
	}
	m.roots[agent] = root
	return root, err
}

// blobLines are the checkpoints of one agent in a file.
type blobLines struct {
	f     *os.File
	at    map[agentstate.ID]blobLine
	order []agentstate.ID
}

// read finds the lines of an agent.
func (x *blobLines) read(ctx context.Context, agent string) error {
	for l, err := range lines.Each(ctx, x.f, sdkdoc.MaxLine) {
		if err != nil {
			return err
		}
		if l.Long || rawjson.TextAt(l.Bytes, "agentId") != agent {
			continue
		}
		id, ok := agentstate.ParseID(rawjson.TextAt(l.Bytes, "blobId"))
		if _, twice := x.at[id]; ok && !twice {
			x.at[id] = blobLine{l.Offset, uint32(len(l.Bytes)), uint32(l.Number)}
			x.order = append(x.order, id)
		}
	}
	return nil
}

func (x *blobLines) all() iter.Seq2[agentstate.ID, error] {
	return func(yield func(agentstate.ID, error) bool) {
		for _, id := range x.order {
			if !yield(id, nil) {
				return
			}
		}
	}
}

// Blob returns the bytes of a checkpoint, nil if there is none.
func (x *blobLines) Blob(_ context.Context, id agentstate.ID) ([]byte, error) {
	l, ok := x.at[id]
	if !ok {
		return nil, nil
	}
	b := make([]byte, l.size)
	if _, err := x.f.ReadAt(b, l.offset); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	data, err := base64.StdEncoding.DecodeString(rawjson.TextAt(bytes.TrimSpace(b), "dataBase64"))
	if err != nil {
		return []byte{}, nil // which is not what its name says
	}
	return data, nil
}
