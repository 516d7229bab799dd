//go:build linux || darwin

package check

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestWalkRules: what lies where stores are looked for is told, and nothing is
// opened that could hang.
func TestWalkRules(t *testing.T) {
	dir := t.TempDir()
	const id = "11111111-2222-4333-8444-555555555555"
	laid(t, dir+"/a.x", "lint\n")
	laid(t, dir+"/b/agents.ndjson", "torn")
	laid(t, dir+"/b/runs.ndjson", "") // nothing is written to it yet
	laid(t, dir+"/c/projects/p/"+id+".jsonl", "torn")
	laid(t, dir+"/c/projects/p/other.jsonl", "torn")
	laid(t, dir+"/d/"+id+".jsonl", "nobody's")
	laid(t, dir+"/d/index.db", "nobody's")
	laid(t, dir+"/e/index.db", "torn")
	laid(t, dir+"/e/agents/x.x", "lint\n")
	laid(t, dir+"/f/agent-transcripts/"+id+"/"+id+".jsonl", "torn")
	laid(t, dir+"/g/store.db", "torn")
	laid(t, dir+"/node_modules/store.db", "torn")
	links := map[string]string{"h/store.db": "h/nowhere", "h/other": "nowhere", "i/state.vscdb": "state.vscdb", "j": "..", "k/folder": dir + "/g"}
	for name, to := range links {
		done(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
		done(t, os.Symlink(to, filepath.Join(dir, name)))
	}
	done(t, os.MkdirAll(dir+"/l", 0o777))
	done(t, syscall.Mkfifo(dir+"/l/store.db", 0o666))
	done(t, syscall.Mkfifo(dir+"/l/pipe", 0o666))
	t.Chdir(dir + "/l")
	if sock, err := net.Listen("unix", "checkpoints.ndjson"); err != nil {
		t.Fatal(err)
	} else {
		defer sock.Close()
	}
	_, got := checked(t, Options{Paths: []string{dir}})
	expectSpelled(t, got,
		filepath.Base(dir)+" RH190×5,b/agents.ndjson,c/projects/p/"+id+".jsonl,e/index.db,f/agent-transcripts/"+id+"/"+id+".jsonl,g/store.db"+
			" RH191×2,j,k/folder RH192×2,h/store.db,i/state.vscdb RH193×2,l/checkpoints.ndjson,l/store.db",
		"a.x", "x.x")
	_, got = checked(t, Options{Paths: []string{dir + "/g/store.db"}})
	expectSpelled(t, got, "store.db RH190×1,")
	_, got = checked(t, Options{Paths: []string{"store.db", dir + "/i/state.vscdb"}})
	expectSpelled(t, got, "store.db RH193×1,", "store.db !store.db: no known format", "state.vscdb !"+dir+"/i/state.vscdb: too many levels of symbolic links")
	_, got = checked(t, Options{Paths: []string{dir + "/g"}, Skip: []string{"RH190"}})
	expectSpelled(t, got, "g")
}

// TestNoEntry: a folder that may not be read is no whole one.
func TestNoEntry(t *testing.T) {
	dir := t.TempDir()
	laid(t, dir+"/a/a.x", "lint\n")
	laid(t, dir+"/b.x", "lint\n")
	if os.Getuid() == 0 {
		// Nothing is closed to root; a folder that goes while it is read is.
		done(t, os.RemoveAll(dir+"/a"))
		_, got := checked(t, Options{Paths: []string{dir, dir + "/a"}})
		expectSpelled(t, got, "b.x", "a !"+dir+"/a: no such file or directory")
		return
	}
	done(t, os.Chmod(dir+"/a", 0))
	defer os.Chmod(dir+"/a", 0o777)
	_, got := checked(t, Options{Paths: []string{dir}})
	expectSpelled(t, got, "a !"+dir+"/a: permission denied", "b.x")
}
