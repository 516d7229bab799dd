package sdkwrite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"rehome/formats"
	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/lines"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sdkstore"
	"rehome/internal/rawjson"
)

// verify reads a draft again and judges it: each line is one that the SDK writes, each
// record belongs to the one agent, runs and events are numbered from 1, no two runs alike,
// each blob has its hash, and all that the root refers to is there.
func verify(ctx context.Context, dir string, before, turns int) error {
	v := &verifier{dir: dir, before: before, turns: turns, numbers: map[int64]bool{}, seqs: map[string]int64{}}
	if err := v.files(ctx, sdkdoc.Agent); err != nil {
		return err
	}
	// Checkpoints have nothing to do with runs.
	w := &verifier{dir: dir, agent: v.agent, root: v.root}
	done := make(chan error, 1)
	go func() {
		err := w.files(ctx, sdkdoc.Checkpoint)
		if err == nil {
			err = located(sdkdoc.Checkpoint.File(), w.walk(ctx))
		}
		if w.blobs != nil {
			err = errors.Join(err, w.blobs.Close())
		}
		done <- err
	}()
	err := v.files(ctx, sdkdoc.Run, sdkdoc.Event)
	if e := <-done; err == nil {
		err = e
	}
	return err
}

// located returns the error of a draft with the place of a defect.
func located(at string, err error) error {
	if bad := defect(""); errors.As(err, &bad) {
		return &formats.Error{Format: sdkstore.FormatName, At: at, Err: err, Hint: "the session was not written; this is a bug in rehome, please report it"}
	}
	return err
}

// defect is the error of a draft that is not as it should be.
type defect string

func (d defect) Error() string { return string(d) }

type verifier struct {
	dir     string
	before  int // number of the run before the first
	line    int
	parser  sdkdoc.Parser
	agent   []byte
	root    agentstate.ID
	turns   int              // that were numbered
	numbers map[int64]bool   // of runs
	seqs    map[string]int64 // number of the last event, by run
	index   agentstate.Index
	places  []blobPlace
	blobs   *os.File // checkpoints.ndjson
	window  sdkstore.Window
	data    []byte
}

// blobPlace is where the line of a blob is.
type blobPlace struct {
	offset int64
	size   int
}

// files verifies the lines of some kinds.
func (v *verifier) files(ctx context.Context, kinds ...sdkdoc.Kind) error {
	for _, k := range kinds {
		if err := v.file(ctx, k); err != nil {
			at := k.File()
			if v.line > 0 {
				at = fmt.Sprintf("%s:%d", at, v.line)
			}
			return located(at, err)
		}
	}
	return nil
}

// file verifies the lines of a kind.
func (v *verifier) file(ctx context.Context, k sdkdoc.Kind) error {
	f, err := os.Open(filepath.Join(v.dir, k.File()))
	if errors.Is(err, fs.ErrNotExist) && k != sdkdoc.Agent {
		return nil
	}
	if err != nil {
		return err
	}
	if k == sdkdoc.Checkpoint {
		v.blobs, v.window.In = f, f
	} else {
		defer f.Close()
	}
	for l, err := range lines.Each(ctx, f, sdkdoc.MaxLine) {
		if err != nil {
			return err
		}
		v.line = l.Number
		if err := v.record(k, &l); err != nil {
			return err
		}
	}
	v.line = 0
	return nil
}

// record verifies a line.
func (v *verifier) record(k sdkdoc.Kind, l *lines.Line) error {
	if l.Long || !l.Ended {
		return defect("incomplete line")
	}
	row, fit := v.parser.Parse(k, l.Bytes)
	if fit != sdkdoc.Exact {
		return defect("not a record of the SDK")
	}
	var owner []byte
	switch k {
	case sdkdoc.Agent:
		id, _ := sdkdoc.RootOf(row[sdkdoc.AgentCheckpoint].Bytes())
		root, ok := agentstate.ParseID(id)
		if !ok || l.Number > 1 {
			return defect("not one agent with a checkpoint")
		}
		v.root, v.agent = root, bytes.Clone(row[sdkdoc.AgentID].Bytes())
		return nil
	case sdkdoc.Run:
		id := string(row[sdkdoc.RunID].Bytes())
		number := row[sdkdoc.RunTurn].Int()
		if _, twice := v.seqs[id]; twice || v.numbers[number] || number <= int64(v.before) || number > int64(v.before+v.turns) {
			return defect("run with another number or repeated")
		}
		v.numbers[number] = true
		if !sdkdoc.Ended(rawjson.TextAt(l.Bytes, "status")) {
			return defect("run that has not ended")
		}
		v.seqs[id] = 0
		owner = row[sdkdoc.RunAgent].Bytes()
	case sdkdoc.Event:
		id := string(row[sdkdoc.EventRun].Bytes())
		if last, known := v.seqs[id]; !known || row[sdkdoc.EventSeq].Int() != last+1 {
			return defect("event out of order or without its run")
		}
		if v.seqs[id]++; !sdkdoc.Streams(row[sdkdoc.EventPayload].Bytes()) {
			return defect("event that the SDK does not stream")
		}
		return nil
	case sdkdoc.Checkpoint:
		owner = row[sdkdoc.BlobAgent].Bytes()
		data := row[sdkdoc.BlobData].Bytes()
		id, ok := agentstate.ParseID(string(row[sdkdoc.BlobID].Bytes()))
		if !ok || id != sha256.Sum256(data) {
			return defect("blob that does not match its id")
		}
		v.index.Add(id, uint64(len(v.places)), data)
		v.places = append(v.places, blobPlace{l.Offset, len(l.Bytes)})
	}
	if !bytes.Equal(owner, v.agent) {
		return defect("record of another agent")
	}
	return nil
}

// walk verifies all that the root refers to.
func (v *verifier) walk(ctx context.Context) error {
	g := agentstate.Graph{Index: &v.index, Read: v.read}
	fault, err := g.Sound(ctx, v.root)
	if err == nil && fault != "" {
		err = defect(fault)
	}
	return err
}

// read returns the bytes of a blob again.
func (v *verifier) read(_ context.Context, place uint64) ([]byte, error) {
	p := v.places[place]
	line, err := v.window.Read(p.offset, p.size)
	if err != nil {
		return nil, err
	}
	data, ok := v.parser.Data(v.data[:0], sdkdoc.BlobMember(line))
	if v.data = data; !ok {
		return nil, defect("blob that is not base64")
	}
	return data, nil
}
