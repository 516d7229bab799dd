package clitest

import (
	"io"
	"os"
	"testing"
)

// PipeStdin makes a pipe stdin, with a scratch folder that must be empty in the end.
func PipeStdin(t *testing.T, text string) {
	t.Helper()
	scratch := t.TempDir()
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, scratch)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdin := os.Stdin
	os.Stdin = r
	go func() {
		_, _ = io.WriteString(w, text)
		_ = w.Close()
	}()
	t.Cleanup(func() {
		os.Stdin = stdin
		_ = r.Close()
		list, err := os.ReadDir(scratch)
		if err != nil || len(list) > 0 {
			t.Errorf("left behind: %v, %v", list, err)
		}
	})
}

const StreamJSON = `{"type":"system","subtype":"init","cwd":"/home/ann/app","session_id":"5e55","model":"M"}
{"type":"user","message":{"role":"user","content":[{"type":"text","text":"hello"}]},"session_id":"5e55"}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"hi"}]},"session_id":"5e55"}
{"type":"result","subtype":"success","duration_ms":5,"is_error":false,"result":"hi","session_id":"5e55"}
`
