package cursorndjson

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sdkwrite"
	"rehome/formats/session"
)

const name = "cursor-ndjson"

// Format is the codec.
func Format() *formats.Format {
	return &formats.Format{
		Name:    name,
		Title:   "the Cursor SDK's agents as lines (agents, runs, run_events and checkpoints.ndjson)",
		Clients: []string{session.CursorSDK},
		Records: &formats.Records{
			Kinds:  []formats.Kind{{Name: formats.SDKDocuments}},
			Open:   open,
			Create: create,
			Parts:  parts,
			Keeps:  keeps,
		},
		Text:        true,
		Schemas:     []string{"cursor-ndjson-agent-1", "cursor-ndjson-run-1", "cursor-ndjson-event-1", "cursor-ndjson-checkpoint-1"},
		Probe:       probe,
		IsStoreName: isStoreName,
		Writer:      sdkwrite.Writer(),
		Sessions: &formats.Sessions{
			Decode: decode,
			Heads:  heads,
			Scan:   search,
		},
		Mover:  mover(),
		Check:  check,
		Repair: repair,
		Merge:  merge(),
	}
}

// parts lists the folders that have a sidecar of their own: those of the agents, and
// the store's.
func parts(l *formats.Location) (out []string) {
	out = []string{""}
	if !isSplit(l) {
		return out
	}
	list, _ := os.ReadDir(l.Path) // reading the store says why
	for _, e := range list {
		if e.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out
}

// keeps reports whether a file may stay in a text whose store lacks it: a transcript, or
// what is in the folder of an agent that is gone as a whole.
func keeps(_, newer, file string) bool {
	folder, _, in := strings.Cut(file, "/")
	if !in || folder == sdkdoc.Transcripts {
		return in
	}
	_, err := os.Lstat(filepath.Join(newer, folder))
	return errors.Is(err, fs.ErrNotExist)
}

// isStoreName reports whether a path is named like one of the four files.
func isStoreName(path string) bool {
	for k := range sdkdoc.Kind(sdkdoc.Kinds) {
		if filepath.Base(path) == k.File() {
			return true
		}
	}
	return false
}

// telling are the members that the first line of each file names.
var telling = [sdkdoc.Kinds][]string{
	{`"agentId"`, `"cwd"`, `"status"`},
	{`"runId"`, `"agentId"`, `"turnNumber"`},
	{`"runId"`, `"seq"`, `"offset"`},
	{`"agentId"`, `"blobId"`, `"dataBase64"`},
}

// probe looks at the first bytes of the four files. One file whose first line
// looks right is enough: each is created on its first write.
func probe(_ context.Context, l *formats.Location) (formats.Match, error) {
	if !l.IsDir() || l.Has("manifest.json") {
		return formats.Match{}, nil // an archive of a database has an agents.ndjson, too
	}
	if isSplit(l) {
		return formats.Match{Score: 96, Evidence: []string{marker + " says that each folder in it is an agent"}}, nil
	}
	var m formats.Match
	for k := range sdkdoc.Kind(sdkdoc.Kinds) {
		if !l.Has(k.File()) || !begins(l.Join(k.File()), telling[k]) {
			continue
		}
		m.Evidence = append(m.Evidence, "the first line of "+k.File()+" has "+strings.ReplaceAll(strings.Join(telling[k], ", "), `"`, ""))
	}
	switch {
	case len(m.Evidence) > 0:
		m.Score = 80 + 4*len(m.Evidence)
	case hollow(l):
		m = formats.Match{Score: 60, Evidence: []string{"has the four files of a store, all empty"}}
	}
	return m, nil
}

// hollow reports a store from which everything was deleted: four files of no
// bytes.
func hollow(l *formats.Location) bool {
	for k := range sdkdoc.Kind(sdkdoc.Kinds) {
		if f := l.Join(k.File()); !f.IsRegular() || len(f.Head()) > 0 {
			return false
		}
	}
	return true
}

// begins reports whether a file begins like a line with these members.
func begins(f *formats.Location, members []string) bool {
	line := f.FirstLine()
	return len(line) > 0 && line[0] == '{' && !slices.ContainsFunc(members, func(m string) bool { return !bytes.Contains(line, []byte(m)) })
}
