package outline

import (
	"os"
	"path/filepath"

	"rehome/formats"
	"rehome/formats/claudecode/internal/shape"
	"rehome/formats/internal/members"
	"rehome/internal/rawjson"
)

// BackupsName is the folder with earlier contents of changed files.
const BackupsName = "file-history"

// Saved is a state of a file that the client saved so that users can restore it.
type Saved struct {
	Line   int32
	Path   string
	File   string // the backup's name; "" where there was no file
	Record []byte
}

// save reads the title or the states in a line. A snapshot lists all tracked files with
// their current backups; a delta contains one file.
func (s *Tree) save(kind string, line []byte) {
	at := int32(len(s.Lines))
	switch kind {
	case "custom-title", "ai-title", "summary":
		s.titles[kind] = rawjson.TextAt(line, shape.Titles[kind])
	case "file-history-snapshot":
		for name, record := range rawjson.Members(rawjson.At(line, "snapshot", "trackedFileBackups")) {
			s.keep(at, string(name), record)
		}
	case "file-history-delta":
		s.keep(at, rawjson.TextAt(line, "trackingPath"), rawjson.Last(line, "backup"))
	}
}

// maxSaved is the maximum number of states.
const maxSaved = 100_000

func (s *Tree) keep(line int32, name string, record []byte) {
	if name == "" || len(record) == 0 || record[0] != '{' {
		return
	}
	one := Saved{Line: line, Path: name, File: rawjson.TextAt(record, "backupFileName")}
	if last, ok := s.state[name]; ok && s.Saved[last].File == one.File {
		return // another snapshot, and the same state
	}
	if len(s.Saved) == maxSaved {
		s.Unsaved++
		return
	}
	one.Record = members.Bare("backup", record)
	if s.state == nil {
		s.state = map[string]int{}
	}
	s.state[name] = len(s.Saved)
	s.Saved = append(s.Saved, one)
}

// OpenBackups opens the backups of the config folder that l is or is part of; nil if
// there are none.
func OpenBackups(l *formats.Location) *os.Root {
	config, err := filepath.Abs(l.Path)
	if err != nil {
		return nil
	}
	if !l.IsDir() {
		config = filepath.Dir(config)
	}
	if !l.IsDir() || !l.Has("projects") {
		if config = filepath.Dir(config); filepath.Base(config) != "projects" {
			return nil
		}
		config = filepath.Dir(config)
	}
	root, err := os.OpenRoot(filepath.Join(config, BackupsName))
	if err != nil {
		return nil
	}
	return root
}
