package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"rehome/cmd/rehome-fleet/internal/bucket"
	"rehome/formats"
	"rehome/internal/fsx"
)

const (
	receiptName  = "_receipt.json"
	verdictsName = "verdicts.ndjson"
	unitsName    = "units"
	maxReceipt   = 256 << 20
)

// Receipt says that a unit is done, and with which results. Its presence is what makes them
// valid. It has no time, machine or process in it: every run writes the same one.
type Receipt struct {
	Schema int            `json:"receipt"`
	Unit   string         `json:"unit"`
	Recipe Recipe         `json:"recipe"`
	Stores []StoreReceipt `json:"stores"`
	Files  []File         `json:"files"`
}

// StoreReceipt is the result of a store. What it wrote is in the folder whose name is the
// place of the store in the list, from 0000 on.
type StoreReceipt struct {
	Path     string           `json:"path"`
	Kind     string           `json:"kind"`
	Bytes    int64            `json:"bytes"`
	Outcome  outcome          `json:"outcome"`
	Exit     int              `json:"exit,omitempty"` // of its process
	Detail   string           `json:"detail,omitempty"`
	Findings map[string]int64 `json:"findings,omitempty"` // by severity
}

// File is a published file.
type File struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	Digest string `json:"sha256"`
}

// readReceipt returns the receipt of a unit, nil if there is none, and an error if it is not
// one of this unit.
func readReceipt(ctx context.Context, out bucket.Bucket, u *Unit, r Recipe) (*Receipt, []byte, error) {
	key := unitsName + "/" + u.ID + "/" + receiptName
	in, err := out.Open(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxReceipt))
	if err != nil {
		return nil, nil, err
	}
	var got Receipt
	if err = json.Unmarshal(text, &got); err == nil && (got.Schema != 1 || got.Unit != u.ID || got.Recipe != r || !slices.EqualFunc(got.Stores, u.Stores, func(a StoreReceipt, b Store) bool {
		return a.Path == b.Path && slices.Contains(outcomes(), a.Outcome)
	})) {
		err = errors.New("it is not that of this unit")
	}
	if err != nil {
		return nil, nil, &formats.Error{At: out.Name() + "/" + key, Err: fmt.Errorf("%w: %w", errDamaged, err), Hint: "delete the folder " + u.ID + " and run `rehome-fleet do` again"}
	}
	return &got, text, nil
}

var errDamaged = errors.New("damaged receipt")

// listFiles returns the files below a folder with their digests.
func listFiles(dir string) (list []File, err error) {
	list = []File{}
	err = filepath.WalkDir(dir, func(at string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, at)
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s: not a regular file", rel)
		}
		if err != nil {
			return err
		}
		sum, err := fsx.Digest(at)
		list = append(list, File{filepath.ToSlash(rel), info.Size(), sum})
		return err
	})
	return list, err
}

// agree compares the receipt that exists with that of this run.
func agree(place string, there, here []byte) error {
	if bytes.Equal(there, here) {
		return nil
	}
	var a, b Receipt
	if err := errors.Join(json.Unmarshal(there, &a), json.Unmarshal(here, &b)); err != nil {
		return err
	}
	for i, s := range a.Stores {
		if i < len(b.Stores) && s.Outcome.stable() && b.Stores[i].Outcome.stable() && (!reflect.DeepEqual(s, b.Stores[i]) || !slices.Equal(a.filesOf(i), b.filesOf(i))) {
			return &formats.Error{At: place, Err: fmt.Errorf("another run came to another result for %q", s.Path), Hint: "this is a bug of rehome, or somebody changed the results: keep both and report it"}
		}
	}
	return nil
}

// filesOf returns the files of a store.
func (r *Receipt) filesOf(store int) (list []File) {
	for _, f := range r.Files {
		if strings.HasPrefix(f.Name, storeFolder(store)+"/") {
			list = append(list, f)
		}
	}
	return list
}

func storeFolder(i int) string { return fmt.Sprintf("%04d", i) }
