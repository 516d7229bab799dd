package all_test

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/formats/all"
)

// keyed is JSON that holds the planted key.
const keyed = `{"blobEncryptionKey":"` + planted + `","k":1}`

// copied is the SDK's own databases, to be changed.
func copied(t *testing.T, dir string) (root string) {
	t.Helper()
	root = filepath.Join(dir, "root")
	if err := os.CopyFS(root, os.DirFS(filepath.Join("..", "..", "testdata", "sdk", "gen", "sqlite"))); err != nil {
		t.Fatal(err)
	}
	return root
}

// TestNoKeyInSidecar: rows, columns, tables and files that no line speaks of go
// to residue, and no secret with them.
func TestNoKeyInSidecar(t *testing.T) {
	dir := t.TempDir()
	root := copied(t, dir)
	run(t, filepath.Join(root, "index.db"),
		"ALTER TABLE agents ADD COLUMN opts", "UPDATE agents SET opts='"+keyed+"'",
		"ALTER TABLE runs ADD COLUMN opts", "UPDATE runs SET opts=CAST('"+keyed+"' AS BLOB)",
		"UPDATE agents SET metadata_json='"+hex.EncodeToString([]byte(keyed))+"' WHERE rowid=1",
		"CREATE TABLE meta_backup(v)", "INSERT INTO meta_backup VALUES('"+hex.EncodeToString([]byte(keyed))+"')",
		"CREATE TABLE settings(v DEFAULT '"+keyed+"')")
	for name, text := range map[string]string{"notes.json": keyed, "index.db.bak": "SQLite format 3\x00" + keyed} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	become(t, root, filepath.Join(dir, "text"), convert.Options{Flat: true, To: "cursor-ndjson"})
	holdNothing(t, filepath.Join(dir, "text"), "", []string{planted})
	b, err := os.ReadFile(filepath.Join(dir, "text.sidecar.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	for _, spelled := range []string{planted, hexOf(planted)} {
		if strings.Contains(string(b), spelled) {
			t.Errorf("the residue holds the key as %s", spelled)
		}
	}
	become(t, filepath.Join(dir, "text"), filepath.Join(dir, "back"), convert.Options{})
}

// TestNoKeyThroughSidecar: what residue puts back into lines is held to the
// same, and a last line that is torn in its key is no line afterwards.
func TestNoKeyThroughSidecar(t *testing.T) {
	for name, files := range map[string][2]string{
		"unknown member": {`{"agentId":"a","x":` + keyed + "}\n", ""},
		"duplicate":      {`{"agentId":"a"}` + "\n" + `{"agentId":"a","sdkMetadata":` + keyed + "}\n", ""},
		"array":          {`{"agentId":"a"}` + "\n[" + keyed + "]\n", ""},
		"torn":           {`{"agentId":"a"}` + "\n" + `{"agentId":"x","sdkMetadata":{"blobEncryptionKey":"` + planted, ""},
		"run":            {`{"agentId":"a"}` + "\n", `{"runId":"r","agentId":"a","turnNumber":1,"x":` + keyed + "}\n"},
		"foreign run":    {`{"agentId":"a"}` + "\n", "[" + keyed + "]\n"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			dir := t.TempDir()
			lines := filepath.Join(dir, "lines")
			if err := os.Mkdir(lines, 0o777); err != nil {
				t.Fatal(err)
			}
			for i, file := range []string{"agents.ndjson", "runs.ndjson"} {
				if err := os.WriteFile(filepath.Join(lines, file), []byte(files[i]), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			become(t, lines, filepath.Join(dir, "db"), convert.Options{From: "cursor-ndjson", WithSecrets: true})
			for to, from := range map[string]string{"by-db": "db", "direct": "lines"} {
				o := convert.Options{Flat: true, To: "cursor-ndjson"}
				if from == "lines" {
					o.From = "cursor-ndjson"
				}
				become(t, filepath.Join(dir, from), filepath.Join(dir, to), o)
				holdNothing(t, filepath.Join(dir, to), "", []string{planted})
			}
		})
	}
}

// TestNoLogFromSidecar: residue cannot put a log beside a database, which would
// change it after it was verified.
func TestNoLogFromSidecar(t *testing.T) {
	for _, file := range []string{"index.db-wal", "index.db-journal", "agents/agent-x/store.db-shm", "agents/index.db", "agent-transcripts", "agent-transcripts/x-WAL"} {
		dir := t.TempDir()
		lines := filepath.Join(dir, "lines")
		if err := os.CopyFS(lines, os.DirFS(filepath.Join("..", "..", "testdata", "sdk", "gen", "jsonl"))); err != nil {
			t.Fatal(err)
		}
		text := `{"rehome":"sidecar","version":1}` + "\n" + `{"at":{"file":"` + file + `","set":""},"row":[{"blob64":"AAA="}]}` + "\n"
		if err := os.WriteFile(lines+".sidecar.ndjson", []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := convert.Convert(t.Context(), all.Registry(), lines, filepath.Join(dir, "db"), convert.Options{To: "cursor-sdk"})
		if err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestHollowStore: an agent's database without a byte means no checkpoints.
func TestHollowStore(t *testing.T) {
	dir := t.TempDir()
	root := copied(t, dir)
	hollow := filepath.Join(root, "agents", "agent-"+strings.Repeat("0", 64), "store.db")
	if err := os.MkdirAll(filepath.Dir(hollow), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hollow, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"cursor-ndjson", "archive"} {
		become(t, root, filepath.Join(dir, to), convert.Options{To: to})
	}
}

// TestOddAgentIDs: checkpoints of agents that no folder can be named after go
// to residue and come back.
func TestOddAgentIDs(t *testing.T) {
	for _, id := range []string{"", "\xff", "a/../b", "\\u0000"} {
		dir := t.TempDir()
		lines := filepath.Join(dir, "lines")
		if err := os.Mkdir(lines, 0o777); err != nil {
			t.Fatal(err)
		}
		good := `{"agentId":"a","blobId":"ab","dataBase64":"AA=="}` + "\n"
		text := good + `{"agentId":"` + id + `","blobId":"ab","dataBase64":"AA=="}` + "\n" + strings.Replace(good, "ab", "cd", 1)
		for file, text := range map[string]string{"agents.ndjson": `{"agentId":"a"}` + "\n", "checkpoints.ndjson": text} {
			if err := os.WriteFile(filepath.Join(lines, file), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		become(t, lines, filepath.Join(dir, "db"), convert.Options{From: "cursor-ndjson", WithSecrets: true})
		become(t, filepath.Join(dir, "db"), filepath.Join(dir, "back"), convert.Options{Flat: true, To: "cursor-ndjson", WithSecrets: true})
		sameFiles(t, lines, filepath.Join(dir, "back"))
	}
}
