package cursorndjson

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/session"
)

// TestHeads: agents in the order of their lines, turns from the runs that
// began, and a bad line costs no other one.
func TestHeads(t *testing.T) {
	const agents = "agents.ndjson"
	const runs = "runs.ndjson"
	one := `{"agentId":"a","cwd":"/w","status":"idle","name":"one \u001b","createdAt":1000,"updatedAt":2000.5,"sdkMetadata":{"blobEncryptionKey":"k"}}` + "\n"
	two := `{"cwd":"/w2","agentId":"b","name":null,"createdAt":"x"}` + "\n"
	oneHead := "a /w \"one \\x1b\" 1000 2000"
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"two":           {map[string]string{agents: one + two, runs: `{"agentId":"a","status":"finished"}` + "\n" + `{"agentId":"a","status":"queued"}` + "\n"}, oneHead + " 1; b /w2 \"\" 0 0 0"},
		"no runs":       {map[string]string{agents: one}, oneHead + " 0"},
		"blank and CR":  {map[string]string{agents: "\ufeff" + strings.TrimSuffix(one, "\n") + "\r\n\n"}, oneHead + " 0"},
		"torn end":      {map[string]string{agents: one + `{"agentId":"c`}, oneHead + " 0"},
		"bad line":      {map[string]string{agents: "{]\n" + one}, "agents.ndjson:1: not a JSON object; " + oneHead + " 0"},
		"no object":     {map[string]string{agents: "null\n" + one}, "agents.ndjson:1: not a JSON object; " + oneHead + " 0"},
		"last one wins": {map[string]string{agents: `{"agentId":"x","agentId":"y"}` + "\n"}, `y  "" 0 0 0`},
		"long line":     {map[string]string{agents: one, runs: `{"agentId":"a","result":"` + strings.Repeat("x", headLine) + "\"}\n"}, oneHead + " -1"},
		"bad runs":      {map[string]string{agents: one, runs: "{\n{}\n"}, oneHead + " -1"},
		"without an id": {map[string]string{agents: `{"cwd":"/w"}` + "\n"}, ""},
		"empty":         {map[string]string{agents: ""}, ""},
		"no agents":     {map[string]string{runs: "{}\n"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, content := range c.files {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			l, err := formats.Locate(dir)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for h, err := range heads(t.Context(), l, formats.View{}) {
				if err != nil {
					_, at, _ := strings.Cut(filepath.ToSlash(err.Error()), filepath.ToSlash(dir)+"/")
					got = append(got, at)
					continue
				}
				if h.Agent != session.CursorSDK || h.Bytes != -1 {
					t.Errorf("%+v", h)
				}
				got = append(got, fmt.Sprintf("%s %s %q %d %d %d", h.ID, h.Workspace, h.Title, h.Created.Millis(), h.Updated.Millis(), h.Turns))
			}
			if text := strings.Join(got, "; "); text != c.want {
				t.Errorf("got  %s\nwant %s", text, c.want)
			}
		})
	}
}

// TestHeadsCancelled: a list that was interrupted says so.
func TestHeadsCancelled(t *testing.T) {
	l, err := formats.Locate(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for h, err := range heads(ctx, l, formats.View{}) {
		if h != nil || !errors.Is(err, context.Canceled) {
			t.Error(h, err)
		}
		return
	}
	t.Error("nothing is listed, and nothing is wrong")
}
