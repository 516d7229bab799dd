package hometest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"rehome/cmd/rehome-fleet/internal/home"
)

// Main is what TestMain calls: it makes the test's own binary the program that Process
// starts. open opens the home at an address.
func Main[H home.Home](m *testing.M, open func(address string) (H, error)) {
	path := os.Getenv("REHOME_TEST_PLACE")
	if path == "" {
		os.Exit(m.Run())
	}
	h, err := open(os.Getenv("REHOME_TEST_ADDRESS"))
	if err == nil {
		_, err = h.Place(context.Background(), path, home.PlaceOptions{Replace: true})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Process places a store in a process of its own.
func Process(t *testing.T, address, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "GOGC=100", "REHOME_TEST_PLACE="+path, "REHOME_TEST_ADDRESS="+address)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// Events writes a store of n events.
func Events(t *testing.T, n int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "run_events.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	w, text := bufio.NewWriter(f), strings.Repeat("what the agent says ", 35)
	for i := range n {
		fmt.Fprintf(w, `{"runId":"run-%08d","seq":%d,"offset":"%[2]d","eventType":"run_stream_event","payload":{"text":%q},"idempotencyKey":null}`+"\n", i/250, i%250+1, text)
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Many fails if the memory of Place grows with a store of n events, or of REHOME_TEST_EVENTS.
func Many(t *testing.T, h home.Home, address string, n int) {
	t.Helper()
	if s := os.Getenv("REHOME_TEST_EVENTS"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	dir := Events(t, n)
	start, cmd := time.Now(), Process(t, address, dir)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	peak := memory(cmd.ProcessState)
	t.Logf("%d events in %.1f s, %d MB", n, time.Since(start).Seconds(), peak)
	if peak >= 100 {
		t.Errorf("%d MB of memory", peak)
	}
	Is(t, h, dir)
}
