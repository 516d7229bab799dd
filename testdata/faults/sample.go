package faults

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"rehome/convert"
	"rehome/formats/all"
	"rehome/testdata/ide"
)

// Samples are the good stores that faults are planted in. Each is made once and copied
// for every fault.
type Samples struct {
	Dir      string // where they are made
	Testdata string // the folder testdata of this module
	made     map[string]string
	next     int
}

// Fresh returns the folder of a new copy of a sample.
func (s *Samples) Fresh(ctx context.Context, name string) (string, error) {
	if s.made[name] == "" {
		to := filepath.Join(s.Dir, "of", name)
		if err := s.make(ctx, to, name); err != nil {
			return "", fmt.Errorf("sample %s: %w", name, err)
		}
		if s.made == nil {
			s.made = map[string]string{}
		}
		s.made[name] = to
	}
	s.next++
	dir := filepath.Join(s.Dir, fmt.Sprint(s.next))
	return dir, os.CopyFS(dir, os.DirFS(s.made[name]))
}

const chatID = "5d0b2b7e-1111-4000-8000-000000000000"

// ChatFolder is where the CLI keeps a chat of the workspace /proj/demo.
func ChatFolder() string {
	sum := md5.Sum([]byte("/proj/demo"))
	return filepath.Join("chats", hex.EncodeToString(sum[:]), chatID)
}

// copies are samples that are folders of testdata, and where these go.
func copies() map[string][2]string {
	return map[string][2]string{
		"sdk":             {"sdk/e2e-sqlite-hot-wal"},
		"sdk-closed":      {"sdk/gen/sqlite"},
		"sdk-legacy":      {"sdk/legacy-1.0.14"},
		"sdk-play":        {"sdk/play/sqlite"},
		"ndjson":          {"sdk/e2e-jsonl"},
		"ndjson-play":     {"sdk/play/jsonl"},
		"ndjson-closed":   {"sdk/gen/jsonl"},
		"claude":          {"claude/config"},
		"opencode-export": {"opencode/exports"},
		"opencode-json":   {"opencode/storage"},
		"gemini-json":     {"gemini-json"},
		"copilot-json":    {"copilot-json"},
		"transcripts":     {"transcript/projects", "projects"},
	}
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// make lays a sample below a folder that does not exist yet.
func (s *Samples) make(ctx context.Context, to, name string) error {
	copied := func(from, below string) error {
		return os.CopyFS(filepath.Join(to, below), os.DirFS(filepath.Join(s.Testdata, from)))
	}
	one := func(from, as string) error {
		b, err := os.ReadFile(filepath.Join(s.Testdata, from))
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(to, as)), 0o777); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, as), b, 0o666)
	}
	converted := func(from, as string, o convert.Options) error {
		if err := os.MkdirAll(to, 0o777); err != nil {
			return err
		}
		_, err := convert.Convert(ctx, all.Registry(), filepath.Join(s.Testdata, from), filepath.Join(to, as), o)
		return err
	}
	kind, rest, _ := strings.Cut(name, "/")
	if from := copies()[kind]; from != [2]string{} {
		return copied(from[0], from[1])
	}
	if home := kind + "/home"; rest == "" && isFolder(filepath.Join(s.Testdata, home)) { // what a client left, under the name of its format
		return copied(home, "")
	}
	switch kind {
	case "chat":
		return one("chat/after.db", filepath.Join(ChatFolder(), "store.db"))
	case "claude-sound":
		return errors.Join(copied("claude/config", ""), os.Remove(filepath.Join(to, "projects/-home-ann-app/20000000-0000-4000-8000-000000000002.jsonl")))
	case "transcripts-sound":
		return errors.Join(copied("transcript/projects", "projects"), os.RemoveAll(filepath.Join(to, "projects/home-ann-app/agent-transcripts/33333333-0000-4000-8000-000000000003")))
	case "stream":
		return one("stream/"+rest, rest)
	case "canonical":
		return one("canonical/one.jsonl", "one.jsonl")
	case "sqlite":
		text, err := os.ReadFile(filepath.Join(s.Testdata, "sqlite/oddities.sql"))
		if err := errors.Join(err, os.MkdirAll(to, 0o777)); err != nil {
			return err
		}
		return ide.Exec(filepath.Join(to, "some.db"), string(text))
	case "archive":
		return s.archived(ctx, "chat/", ChatFolder(), filepath.Join(to, "chat"))
	case "archive-ide":
		return s.archived(ctx, "ide/"+rest, "User", filepath.Join(to, "ide"))
	case "ndjson-split", "ndjson-sidecar":
		return converted("sdk/legacy-1.0.14", "text", convert.Options{To: "cursor-ndjson", Flat: kind == "ndjson-sidecar"})
	case "ide":
		script := rest
		if script == "" {
			script = "tools"
		}
		text, err := os.ReadFile(filepath.Join(s.Testdata, "ide/cases", script+".sql"))
		if err != nil {
			return err
		}
		return ide.Build(filepath.Join(to, "User"), string(text))
	}
	if info, err := os.Stat(filepath.Join(s.Testdata, "faults/samples", name)); err == nil && info.IsDir() {
		return copied("faults/samples/"+name, "")
	}
	return fmt.Errorf("%w: nobody knows how to make it", fs.ErrNotExist)
}

// archived is a store of a sample as text.
func (s *Samples) archived(ctx context.Context, sample, below, to string) error {
	store, err := os.MkdirTemp(s.Dir, "archived-")
	if err != nil {
		return err
	}
	if err := s.make(ctx, filepath.Join(store, "x"), sample); err != nil {
		return err
	}
	_, err = convert.Convert(ctx, all.Registry(), filepath.Join(store, "x", below), to, convert.Options{To: "archive", Sidecar: "none"})
	return err
}
