package all_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/formatstest/graphgen"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// TestDescribedStore: in a store as the SDK's first ones are publicly described, each call has its
// counterpart in Claude Code with what an edit took out and put there, and each message is understood.
func TestDescribedStore(t *testing.T) {
	want := []string{
		`Bash {"command":"pnpm test"}`, `Read {"file_path":"/proj/a.ts"}`,
		`Edit {"file_path":"/proj/a.ts","old_string":"const a = 1;\nexport {};","new_string":"const a = 2;\nexport {};"}`,
		`Write {"file_path":"/proj/b.ts","content":"one\ntwo"}`,
		`Edit {"file_path":"/proj/a.ts","old_string":"a\nc","new_string":"b\nd"}`,
		`file-edit {"path":"/proj/gone"}`,
	}
	for i, envelope := range graphgen.Envelopes {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			dir := t.TempDir()
			if err := graphgen.WriteDescribed(t.Context(), filepath.Join(dir, "project"), envelope); err != nil {
				t.Fatal(err)
			}
			l, err := formats.Locate(filepath.Join(dir, "project"))
			if err != nil {
				t.Fatal(err)
			}
			var losses []loss.Code
			note := func(n loss.Loss) { losses = append(losses, n.Code) }
			for s, err := range all.Registry().Lookup("cursor-sdk").Sessions.Decode(t.Context(), l, formats.View{OnLoss: note}, session.Selection{}) {
				if err != nil {
					t.Fatal(err)
				}
				draft, err := all.Registry().Lookup("claude-code").Writer.New().Put(t.Context(), s, formats.SessionBuild{Path: filepath.Join(dir, "out"), OnLoss: note})
				if err != nil {
					t.Fatal(err)
				}
				if err := draft.Verify(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			for _, code := range []loss.Code{loss.PartUntranslatable, loss.ArgumentLeft, loss.EventUnreadable} {
				if slices.Contains(losses, code) {
					t.Errorf("%s among %v", code, losses)
				}
			}
			if got := toolUses(t, filepath.Join(dir, "out")); !slices.Equal(got, want) {
				t.Errorf("the calls are\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// toolUses lists the calls of a file of Claude Code.
func toolUses(t *testing.T, path string) (out []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var l struct {
			Message struct {
				Content json.RawMessage
			}
		}
		var blocks []struct {
			Type, Name string
			Input      json.RawMessage
		}
		if json.Unmarshal([]byte(line), &l) != nil || json.Unmarshal(l.Message.Content, &blocks) != nil {
			continue
		}
		for _, b := range blocks {
			if b.Type == "tool_use" {
				out = append(out, b.Name+" "+string(b.Input))
			}
		}
	}
	return out
}
