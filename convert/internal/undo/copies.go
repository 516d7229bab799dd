package undo

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	"rehome/internal/fsx"
)

// Copy says from which session a session was made. It is kept for good, unlike a Record: the
// copy can be deleted and made again, which makes the same one.
type Copy struct {
	Format  string `json:"format"`
	Session string `json:"session"` // its id in the client
	Of      string `json:"of"`      // the id of its source
}

const (
	copiesName    = "copies.ndjson"
	maxCopiesRead = 64 << 20 // bytes that are read
)

// Copies returns the copies that were recorded. What cannot be read is left out.
func (f Folder) Copies() (out []Copy) {
	file, err := os.Open(filepath.Join(f.Dir, copiesName))
	if f.Dir == "" || err != nil {
		return nil
	}
	defer file.Close()
	lines := bufio.NewScanner(io.LimitReader(file, maxCopiesRead))
	for lines.Scan() {
		var c Copy
		if json.Unmarshal(lines.Bytes(), &c) == nil && c.Session != "" && c.Of != "" {
			out = append(out, c)
		}
	}
	return out
}

// Copied records copies, as far as they were not recorded before.
func (l *Log) Copied(list []Copy) error {
	known := map[Copy]bool{}
	for _, c := range l.folder.Copies() {
		known[c] = true
	}
	var lines bytes.Buffer
	for _, c := range list {
		if known[c] {
			continue
		}
		line, err := json.Marshal(c)
		if err != nil {
			return err
		}
		lines.WriteString("\n")
		lines.Write(line)
		known[c] = true
	}
	if lines.Len() == 0 {
		return nil
	}
	lines.WriteString("\n")
	path := filepath.Join(l.folder.Dir, copiesName)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(lines.Bytes()) // begins with a line end: a killed run may have left half a line
	if cerr := file.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = fsx.SyncFile(path)
	}
	return err
}
