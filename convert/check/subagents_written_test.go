package check_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/convert/check"
	"rehome/formats/all"
	"rehome/formats/loss"
	"rehome/formats/rule"
)

// TestKinWritten: what is written for Claude Code names no call and no subagent
// that is not there, whichever way it came, and names those that are.
func TestKinWritten(t *testing.T) {
	known := &samples{dir: t.TempDir()}
	ways := map[string]func(ctx context.Context, from, to string) error{
		"convert": func(ctx context.Context, from, to string) error {
			_, err := convert.Convert(ctx, all.Registry(), from, filepath.Join(to, "projects"), convert.Options{To: "claude-code", Allow: loss.Unreadable})
			return err
		},
		"migrate": func(ctx context.Context, from, to string) error {
			o := convert.MigrateOptions{To: "claude-code", Dir: to, Cwd: to, OnNotice: func(string) {}}
			_, err := convert.Migrate(ctx, all.Registry(), []convert.MigrateSource{{Path: from}}, o)
			return err
		},
	}
	names := []string{"ide/table", "ide/subagents", "canonical", "stream/tools.jsonl", "stream/background.jsonl", "claude-sound"}
	for way, carry := range ways {
		calls, agents := 0, 0
		for _, name := range append(names, "several") {
			from, to := "../../testdata/canonical/several.jsonl", t.TempDir()
			if name != "several" {
				from = known.fresh(t, name)
			}
			if err := carry(t.Context(), from, to); err != nil {
				t.Errorf("%s %s: %v", way, name, err)
				continue
			}
			got, err := ask(t.Context(), check.Options{Paths: []string{to}, Layers: everything})
			if err != nil {
				t.Fatal(err)
			}
			for id, places := range got {
				if r := rule.Lookup(id); r.Severity > rule.Note {
					t.Errorf("%s %s: %s %s at %v: %s", way, name, r.Severity, id, places, r.Title)
				}
			}
			if err := filepath.WalkDir(to, func(path string, e fs.DirEntry, err error) error {
				if err != nil || e.IsDir() {
					return err
				}
				b, err := os.ReadFile(path)
				calls += strings.Count(string(b), `"toolUseId":"`)
				for line := range strings.Lines(string(b)) {
					_, result, _ := strings.Cut(line, `"toolUseResult":`)
					agents += strings.Count(result, `"agentId":"`)
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		if calls < 3 || agents < 1 {
			t.Errorf("%s: %d calls and %d subagents are named, so next to nothing was asked", way, calls, agents)
		}
	}
}
