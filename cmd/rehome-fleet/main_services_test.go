//go:build services

package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rehome/cmd/rehome-fleet/internal/reach"
)

// address returns that of a new schema on the test's server, and the password in it.
func address(t *testing.T) (schema, password string) {
	t.Helper()
	u, err := url.Parse(os.Getenv("REHOME_TEST_POSTGRES"))
	if err != nil || u.Host == "" {
		t.Fatal("REHOME_TEST_POSTGRES names no server: run `make services`")
	}
	password, _ = u.User.Password()
	q := u.Query()
	q.Set("schema", "reach_"+rand.Text())
	u.RawQuery = q.Encode()
	return u.String(), password
}

// play runs the program.
func play(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, messages bytes.Buffer
	code = reach.Run(t.Context(), program(), homes(), args, &out, &messages, os.Getenv)
	return out.String(), messages.String(), code
}

// TestCommandsOnServer: commands work on a store in a database as on one in files. Their
// output names the server, and neither its password nor the private copy.
func TestCommandsOnServer(t *testing.T) {
	store, password := address(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	sdk := filepath.Join("..", "..", "testdata", "sdk", "e2e-sqlite-hot-wal", "projects")
	lines := filepath.Join("..", "..", "testdata", "sdk", "e2e-jsonl")
	back, direct, work := filepath.Join(t.TempDir(), "sdk"), filepath.Join(t.TempDir(), "sdk"), filepath.Join(t.TempDir(), "lines")
	one := filepath.Join(sdk, "tmp-e2eout-ws")
	for _, step := range []struct {
		args string
		code int
		want string // in what it prints
	}{
		{"convert " + sdk + " STORE", 1, "is a folder of stores, and an address holds one"},
		{"ls STORE", 1, "no store"},
		{"convert " + one + " STORE --dry-run", 0, "checked, 56 records"},
		{"convert " + one + " STORE", 0, "cursor-sdk -> cursor-ndjson, exact conversion: placed"},
		{"convert " + one + " STORE", 1, "already exists"},
		{"convert " + one + " STORE --update", 2, "--update: not for stores on servers"},
		{"convert " + one + " STORE --to archive", 2, "the address decides the format"},
		{"convert STORE " + back + " --to cursor-sdk", 0, "exact conversion: placed"},
		{"convert " + one + " " + work + " --to cursor-ndjson --with-secrets", 0, "placed"},
		{"convert " + work + " " + direct + " --to cursor-sdk", 0, "placed"},
		{"ls STORE --json", 0, `"title": "E2E 0"`},
		{"show STORE#agent-7e855a8f", 0, "Prompt 0"},
		{"check STORE", 0, "1 store"},
		{"search wörld --path STORE", 0, "wörld"},
		{"diff " + work + " STORE", 0, "no differences"},
		{"watch STORE " + work, 2, "the address of a server is not a path"},
		{"convert " + lines + " STORE --replace", 0, "the old store is kept as"},
		{"convert " + lines + " STORE --replace=true", 0, "the old store is kept as"},
		{"convert " + filepath.Join("..", "..", "testdata", "chat", "before.db") + " STORE --replace", 0, "session conversion"},
		{"redact " + one + " STORE --replace", 1, "the result is a cursor-sdk store, and the address holds cursor-ndjson"},
		{"search postgres://127.0.0.1:1/x --path " + lines, 1, "no "},
		{"redact STORE " + filepath.Join(t.TempDir(), "clean"), 0, "placed"},
	} {
		stdout, stderr, code := play(t, strings.Fields(strings.ReplaceAll(step.args, "STORE", store))...)
		if code != step.code || !strings.Contains(stdout+stderr, step.want) {
			t.Errorf("%s: exit %d, not %d with %q\n%s%s", step.args, code, step.code, step.want, stdout, stderr)
		}
		if all := stdout + stderr; strings.Contains(all, password) || strings.Contains(all, temp) {
			t.Errorf("%s: prints the password or the private copy\n%s", step.args, all)
		}
		if strings.Contains(step.args, "--json") && !json.Valid([]byte(stdout)) {
			t.Errorf("%s: not JSON: %s", step.args, stdout)
		}
	}
	if out, err := exec.Command("diff", "-r", direct, back).CombinedOutput(); err != nil {
		t.Errorf("through the server: %v\n%s", err, out)
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("private copies are left: %v", left)
	}
}
