package all_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"rehome/formats/all"
	"rehome/formats/formatstest"
	"rehome/formats/formatstest/graphgen"
	"rehome/formats/formatstest/idegen"
	"rehome/testdata/ide"
	"rehome/testdata/sdk"
)

// TestCallsSurvive: what tools were asked and what came of it is the same in
// Claude Code's files, whichever store it was in.
func TestCallsSurvive(t *testing.T) {
	calls := map[string]int{}
	try := func(format, name string, path func(t *testing.T) string) {
		t.Run(format+"/"+name, func(t *testing.T) {
			calls[format] += formatstest.Survives(t, all.Registry(), all.Registry().Lookup(format), path(t))
		})
	}
	for shape := range graphgen.Shapes {
		for seed := range uint64(min(*seeds, 4)) {
			p := graphgen.New(seed, shape)
			name := fmt.Sprintf("%v/%d", shape, seed)
			try("cursor-chat", name, func(t *testing.T) string { return chatStore(t, p, p.Graph(), graphgen.Odd{}) })
			try("cursor-sdk", name, func(t *testing.T) string { return sdkStore(t, p, p.Graph(), graphgen.Odd{}).Project })
			try("cursor-ndjson", name, func(t *testing.T) string { return lineStore(t, p, p.Graph()) })
		}
	}
	for seed := range uint64(min(*seeds, 4)) {
		try("cursor-ide", fmt.Sprint(seed), func(t *testing.T) string {
			dir := filepath.Join(t.TempDir(), "User")
			if err := idegen.New(seed, 20).Write(t.Context(), dir); err != nil {
				t.Fatal(err)
			}
			return dir
		})
	}
	scripts, err := fs.Glob(ide.Cases, "cases/*.sql")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("%d scripts, %v", len(scripts), err)
	}
	for _, script := range scripts {
		try("cursor-ide", filepath.Base(script), func(t *testing.T) string {
			text, err := fs.ReadFile(ide.Cases, script)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if err := ide.Build(dir, string(text)); err != nil {
				t.Fatal(err)
			}
			return dir
		})
	}
	for format, path := range map[string]string{"cursor-ndjson": "sdk/e2e-jsonl", "cursor-chat": "chat/after.db"} {
		try(format, path, func(*testing.T) string { return filepath.Join("../../testdata", path) })
	}
	try("cursor-sdk", sdk.Project, func(t *testing.T) string {
		dir := t.TempDir()
		if err := os.CopyFS(dir, sdk.Stores); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, filepath.FromSlash(sdk.Project))
	})
	for _, format := range []string{"cursor-chat", "cursor-sdk", "cursor-ndjson", "cursor-ide"} {
		if calls[format] < 30 {
			t.Errorf("%s: only %d calls came by", format, calls[format])
		}
	}
}
