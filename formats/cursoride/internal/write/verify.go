package write

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"rehome/formats"
	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/agentstate"
	"rehome/internal/rawjson"
)

// defect is the error of a draft that is not as it should be.
type defect string

func (d defect) Error() string { return string(d) }

// verify reads a draft again and judges it: each bubble that a record lists is there, and
// no other; each blob has its hash, and all that a state refers to is there.
func verify(ctx context.Context, dir string) error {
	v := &verifier{bubbles: map[string]bool{}}
	err := v.file(ctx, filepath.Join(dir, rowsFile))
	if bad := defect(""); errors.As(err, &bad) {
		return &formats.Error{Format: "cursor-ide", At: string(v.row.key), Err: err, Hint: "the session was not written; this is a bug in rehome, please report it"}
	}
	return err
}

type verifier struct {
	row     row
	bubbles map[string]bool // rows that no record has listed yet
	roots   []agentstate.ID
	index   agentstate.Index
	in      *os.File
	at      int64 // behind the last row
	places  []blobPlace
	data    []byte
}

// blobPlace is where the value of a blob's row is.
type blobPlace struct {
	offset int64
	size   int
}

func (v *verifier) file(ctx context.Context, path string) (err error) {
	if v.in, err = os.Open(path); err != nil {
		return err
	}
	defer v.in.Close()
	r := bufio.NewReaderSize(v.in, bufferSize)
	for {
		if v.row, err = readRow(r, v.row); errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = v.check()
		}
		if err != nil {
			return err
		}
	}
	if len(v.bubbles) > 0 {
		return defect(fmt.Sprintf("%d bubbles that no record lists", len(v.bubbles)))
	}
	for _, root := range v.roots {
		if err := v.walk(ctx, root); err != nil {
			return err
		}
	}
	return nil
}

// check judges a row.
func (v *verifier) check() error {
	v.at += v.row.space()
	switch key := v.row.key; {
	case v.row.blob:
		id := agentstate.ID(sha256.Sum256(v.row.value))
		if blobKey(id) != string(key) {
			return defect("blob that does not match its id")
		}
		v.index.Add(id, uint64(len(v.places)), v.row.value)
		v.places = append(v.places, blobPlace{v.at - int64(len(v.row.value)), len(v.row.value)})
	case bytes.HasPrefix(key, []byte(lists.ContentRow)):
		if contentKey(v.row.value) != string(key) {
			return defect("content that does not match its hash")
		}
	case bytes.HasPrefix(key, []byte(lists.BubbleRow)):
		if v.bubbles[string(key)] {
			return defect("two bubbles with one id")
		}
		v.bubbles[string(key)] = true
	case bytes.HasPrefix(key, []byte(lists.ComposerRow)):
		return v.record(string(key[len(lists.ComposerRow):]))
	}
	return nil
}

func (v *verifier) record(id string) error {
	for h := range rawjson.Elements(rawjson.Last(v.row.value, "fullConversationHeadersOnly")) {
		key := lists.BubbleRow + id + ":" + rawjson.TextAt(h, "bubbleId")
		if !v.bubbles[key] {
			return defect("bubble that is listed, but missing")
		}
		delete(v.bubbles, key)
	}
	root := lists.RootBytes(rawjson.TextAt(v.row.value, "conversationState"))
	v.roots = append(v.roots, sha256.Sum256(root))
	return nil
}

// walk verifies all that a root refers to.
func (v *verifier) walk(ctx context.Context, root agentstate.ID) error {
	g := agentstate.Graph{Index: &v.index, Read: v.read}
	fault, err := g.Sound(ctx, root)
	if err == nil && fault != "" {
		err = defect(fault)
	}
	return err
}

func (v *verifier) read(_ context.Context, place uint64) ([]byte, error) {
	p := v.places[place]
	if cap(v.data) < p.size {
		v.data = make([]byte, p.size)
	}
	_, err := v.in.ReadAt(v.data[:p.size], p.offset)
	return v.data[:p.size], err
}
