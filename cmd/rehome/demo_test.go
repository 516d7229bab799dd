package main

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rehome/golden"
)

// TestDemo compares the whole walk with what is checked in. Without a PATH the
// difference is the demo's own, so that no version of git shows in it.
func TestDemo(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	t.Setenv("TMP", tmp) // the same on Windows
	stdout, stderr, code := call(t, "demo")
	if code != 0 || stderr != "" {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	folders, err := filepath.Glob(filepath.Join(tmp, "rehome-demo-*"))
	if err != nil || len(folders) != 1 {
		t.Fatalf("%q, %v", folders, err)
	}
	golden.Bytes(t, "demo.txt", []byte(strings.ReplaceAll(stdout, folders[0], "$FOLDER")))
	if last := strings.Split(strings.TrimSpace(stdout), "\n"); !strings.Contains(last[len(last)-1], " claude --resume ") {
		t.Errorf("it ends with %q", last[len(last)-1])
	}
	for _, name := range []string{"chat/store.db", "monday/manifest.json", "tuesday/manifest.json", "back/store.db", "whole/store.db"} {
		if _, err := os.Stat(filepath.Join(folders[0], filepath.FromSlash(name))); err != nil {
			t.Error(err)
		}
	}
	// The key of the sample is a dummy of zeros: it is in the backup only.
	for folder, want := range map[string]bool{"monday": false, "tuesday": false, "again": false, "private": true} {
		tree, err := readTree(filepath.Join(folders[0], folder))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, data := range tree {
			found = found || strings.Contains(string(data), strings.Repeat("00", 32)) || strings.Contains(string(data), strings.Repeat("3030", 32))
		}
		if found != want {
			t.Errorf("%s: key in the text: %v, want %v", folder, found, want)
		}
	}
}

// TestDemoOfTheSDK: the keys are in what is kept, and not in what is for git;
// and the store lies where the SDK looks for it.
func TestDemoOfTheSDK(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TMP", os.Getenv("TMPDIR"))
	stdout, stderr, code := call(t, "demo", "--json")
	var got demoResult
	if err := json.Unmarshal([]byte(stdout), &got); code != 0 || err != nil {
		t.Fatalf("exit %d, %v: %s", code, err, stderr)
	}
	if !got.SDK.Equal {
		t.Error("the agent did not come back equal")
	}
	const place = "elsewhere/.cursor/projects/home-ann-my-app/sdk-agent-store/"
	if sum := fmt.Sprintf("%x", md5.Sum([]byte("/home/ann/my-app"))); got.SDK.Place != place+sum {
		t.Errorf("the store was put at %s", got.SDK.Place)
	}
	if _, err := os.Stat(filepath.Join(got.Folder, filepath.FromSlash(got.SDK.Place), "index.db")); err != nil {
		t.Error(err)
	}
	m := got.Migrated
	at := filepath.Join(got.Folder, filepath.FromSlash(m.File))
	if data, err := os.ReadFile(at); err != nil || !bytes.Contains(data, []byte(m.Session)) || filepath.Base(at) != m.Session+".jsonl" || filepath.Base(filepath.Dir(filepath.Dir(at))) != "projects" {
		t.Errorf("the session lies at %s: %v", m.File, err)
	}
	if want := "cd " + filepath.Join(got.Folder, "my-app") + " && CLAUDE_CONFIG_DIR=" + filepath.Join(got.Folder, "claude") + " claude --resume " + m.Session; m.Continue != want {
		t.Errorf("it goes on with %s", m.Continue)
	}
	kept, err := os.ReadFile(filepath.Join(got.Folder, "kept", "agents.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	key := regexp.MustCompile(`"blobEncryptionKey":"([0-9a-f]{64})"`).FindSubmatch(kept)
	if key == nil {
		t.Fatal("what is kept lacks the key")
	}
	for _, name := range got.SDK.Files {
		b, err := os.ReadFile(filepath.Join(got.Folder, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, key[1]) || bytes.Contains(b, []byte(hex.EncodeToString(key[1]))) {
			t.Errorf("%s: the key is for git", name)
		}
	}
}

// TestDemoWithGit lets git, where there is one, find the same difference.
func TestDemoWithGit(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var got [2]demoResult
	for i, env := range []map[string]string{{}, {"PATH": os.Getenv("PATH")}} {
		stdout, stderr, code := callWith(t, t.Context(), env, "demo", "--json")
		if code != 0 {
			t.Fatalf("exit %d: %s%s", code, stdout, stderr)
		}
		checkJSON(t, []string{"demo"}, []byte(stdout))
		if err := json.Unmarshal([]byte(stdout), &got[i]); err != nil {
			t.Fatal(err)
		}
		if !got[i].Equal {
			t.Error("the demo's store did not come back equal")
		}
	}
	plain, git := got[0].Diff, got[1].Diff
	if plain.Added != git.Added || plain.Removed != git.Removed || git.Added == 0 {
		t.Errorf("without git %+v, with git %+v", plain, git)
	}
}

// TestDemoSaysWhenItFails: a demo that cannot write is an error, not a demo.
func TestDemoSaysWhenItFails(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	t.Setenv("TMP", filepath.Join(t.TempDir(), "missing"))
	stdout, stderr, code := call(t, "demo")
	if code != 1 || stdout != "" || !strings.HasPrefix(stderr, "rehome: demo: ") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}
