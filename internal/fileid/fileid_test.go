package fileid

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

func TestOf(t *testing.T) {
	dir := t.TempDir()
	at := time.Unix(1790000000, 123456700)
	of := func(name, text string, changed time.Time) ID {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, changed, changed); err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		return Of(info)
	}
	a := of("a", "text", at)
	info, err := os.Lstat(filepath.Join(dir, "a"))
	if err != nil || a != Of(info) {
		t.Errorf("an unchanged file has another ID: %v", err)
	}
	if known := runtime.GOOS == "linux" || runtime.GOOS == "darwin"; known != (a.Status != 0) {
		t.Errorf("its status changed at %d", a.Status)
	}
	time.Sleep(20 * time.Millisecond) // the clock of the file system ticks
	if runtime.GOOS != "windows" && a == of("a", "next", at) {
		t.Error("a file that was edited in place, and its time put back, has the same ID")
	}
	if a == of("a", "text2", at) || a == of("a", "text", at.Add(time.Second)) {
		t.Error("another size or time is the same ID")
	}
	if runtime.GOOS != "windows" && a == of("b", "text", at) {
		t.Error("another file is the same ID")
	}
}

func TestSettled(t *testing.T) {
	now := time.Unix(1790000000, 0)
	for age, want := range map[time.Duration]bool{Resolution: true, time.Hour: true, Resolution - 1: false, 0: false, -time.Hour: false} {
		if got := Settled(now.Add(-age), now); got != want {
			t.Errorf("changed %v ago: settled %v", age, got)
		}
	}
}
