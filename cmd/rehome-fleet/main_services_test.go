//go:build services

package main

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rehome/cmd/rehome-fleet/internal/reach"
	"rehome/schemas"
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
		{"convert " + lines + " STORE --replace", 0, "old target kept as"},
		{"convert " + lines + " STORE --replace=true", 0, "old target kept as"},
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

// TestLossesOnServer: what a server cannot hold, or does not give, is refused before anything is
// placed, and in the report.
func TestLossesOnServer(t *testing.T) {
	need := func(name string) string {
		v := os.Getenv(name)
		if v == "" {
			t.Fatalf("%s names no server: run `make services`", name)
		}
		return v
	}
	temp, work := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temp)
	config, clean := filepath.Join(work, "config"), filepath.Join(work, "clean")
	const line = `{"type":"user","uuid":"1","sessionId":"s","timestamp":"2026-01-01T00:00:00Z","a":1,"a":2,"message":{"role":"user","content":"hello"}}` + "\n"
	for name, text := range map[string]string{"config/projects/p/20000000-0000-4000-8000-000000000001.jsonl": line + "{\"torn", "config/history.jsonl": "{}\n", "clean/projects/p/20000000-0000-4000-8000-000000000001.jsonl": line} {
		path := filepath.Join(work, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for name, server := range map[string]string{"table": need("REHOME_TEST_POSTGRES"), "prefix": need("REHOME_TEST_REDIS")} {
		u, err := url.Parse(server)
		if err != nil {
			t.Fatal(err)
		}
		q := u.Query()
		q.Set(name, "t"+strings.ToLower(rand.Text()))
		u.Scheme, u.RawQuery = "claude+"+u.Scheme, q.Encode()
		store, out := u.String(), filepath.Join(work, name)
		exact := 3
		if name == "prefix" { // Redis keeps doubled members
			exact = 0
		}
		for _, step := range []struct {
			args string
			code int
			want string
		}{
			{"convert --strict CONFIG STORE", 3, "exact conversion: skipped"},
			{"convert --strict CONFIG STORE", 3, "1 of 1 store skipped: losses exceed --allow"},
			{"convert --allow=missing CONFIG STORE --json", 3, `"code": "L550"`},
			{"ls STORE", 1, "no sessions"},
			{"convert CONFIG STORE --dry-run", 0, "the server was not asked"},
			{"convert CONFIG STORE --json", 0, `"code": "L551"`},
			{"convert --strict CLEAN STORE", exact, "exact conversion: "},
			{"convert STORE OUT --strict --to claude-code", 0, "exact conversion: placed"},
			{"convert CLEAN STORE --replace --quiet", 0, ""},
		} {
			line := strings.NewReplacer("CONFIG", config, "CLEAN", clean, "STORE", store, "OUT", out).Replace(step.args)
			stdout, stderr, code := play(t, strings.Fields(line)...)
			if code != step.code || !strings.Contains(stdout+stderr, step.want) || strings.Contains(stdout+stderr, temp) {
				t.Errorf("%s: %s: exit %d, not %d with %q\n%s%s", name, step.args, code, step.code, step.want, stdout, stderr)
			}
			if strings.Contains(step.args, "--json") {
				if err := schemas.Validate("convert-result-1", []byte(stdout)); err != nil {
					t.Errorf("%s: %s: %v\n%s", name, step.args, err, stdout)
				}
			}
			if strings.Contains(step.args, "--quiet") && stdout+stderr != "" {
				t.Errorf("%s: %s is not quiet: %s%s", name, step.args, stdout, stderr)
			}
		}
	}
}

// TestLossesOfFetch: what is not read from a server is a loss as well.
func TestLossesOfFetch(t *testing.T) {
	u, err := url.Parse(os.Getenv("REHOME_TEST_REDIS"))
	if err != nil || u.Host == "" {
		t.Fatal("REHOME_TEST_REDIS names no server: run `make services`")
	}
	c, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	prefix, from := "t"+rand.Text(), bufio.NewReader(c)
	do := func(words ...string) {
		t.Helper()
		fmt.Fprintf(c, "*%d\r\n", len(words))
		for _, w := range words {
			fmt.Fprintf(c, "$%d\r\n%s\r\n", len(w), w)
		}
		if answer, err := from.ReadString('\n'); err != nil || answer[0] == '-' {
			t.Fatalf("%s: %q, %v", words[0], answer, err)
		}
	}
	if password, ok := u.User.Password(); ok {
		do("AUTH", password)
	}
	id := "20000000-0000-4000-8000-000000000001"
	do("RPUSH", prefix+":p:"+id, `{"type":"user","uuid":"1","sessionId":"s","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"x"}}`, "torn")
	do("ZADD", prefix+":p:__sessions", "1", id)
	u.Scheme, u.RawQuery = "claude+"+u.Scheme, "prefix="+prefix
	out := filepath.Join(t.TempDir(), "out")
	stdout, stderr, code := play(t, "convert", "--to", "claude-code", u.String(), out, "--strict")
	if _, err := os.Lstat(out); code != 3 || err == nil || !strings.Contains(stderr, "losses exceed --allow: dropped: 1 entry") || !strings.Contains(stderr, "--allow dropped") {
		t.Errorf("exit %d, %v\n%s%s", code, err, stdout, stderr)
	}
	stdout, stderr, code = play(t, "convert", "--to", "claude-code", u.String(), out)
	if code != 0 || !strings.Contains(stdout, "(L560)") || strings.Contains(stderr, "L560") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	if _, stderr, _ := play(t, "ls", u.String()); !strings.Contains(stderr, "not read: dropped: 1 entry") {
		t.Errorf("ls: %s", stderr)
	}
}
