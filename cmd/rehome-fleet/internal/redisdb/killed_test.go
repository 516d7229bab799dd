//go:build services

package redisdb

import (
	"strings"
	"testing"
	"time"

	"rehome/cmd/rehome-fleet/internal/home"
	"rehome/cmd/rehome-fleet/internal/home/hometest"
)

// Whatever ends a Place, the old store is there, or the new one, and the next Place removes
// what it left.
func TestKilled(t *testing.T) {
	h, many := open(t, "killed"), hometest.Events(t, 3000)
	hometest.Same(t, h, gen)
	start := time.Now()
	if err := hometest.Process(t, address(t, h.store).String(), many).Wait(); err != nil {
		t.Fatal(err)
	}
	whole, placed, left := time.Since(start), 0, 0
	hometest.Is(t, h, many)
	backups := func() (n int) {
		for _, k := range keys(t, h, "~bak-") {
			if strings.HasSuffix(k, ":meta") {
				n++
			}
		}
		return n
	}
	const moments = 10
	for i := range 2 * moments {
		hometest.Same(t, h, gen)
		clean(t, h)
		before := backups()
		cmd := hometest.Process(t, address(t, h.store).String(), many)
		time.Sleep(whole * time.Duration(i/2+1) / moments)
		if i%2 == 0 {
			_ = cmd.Process.Kill()
		} else {
			do(t, "CLIENT", "KILL", "TYPE", "normal")
		}
		_ = cmd.Wait()
		left += len(keys(t, h, "~stage-"))
		if backups() > before {
			placed++
			hometest.Is(t, h, many)
		} else {
			hometest.Is(t, h, gen)
		}
		if i != 0 {
			do(t, "DEL", h.prefix+"~place") // as after its time
		}
	}
	t.Logf("%d of %d were done first, %d keys were left", placed, 2*moments, left)
	if placed == 2*moments || left == 0 {
		t.Error("none was killed in time")
	}
}

// A store that another Place took over is not placed.
func TestLost(t *testing.T) {
	h := open(t, "lost")
	hometest.Same(t, h, gen)
	stolen := false
	_, err := h.Place(t.Context(), play, home.PlaceOptions{Replace: true, Progress: func(int64, int64) {
		if !stolen {
			stolen = true
			do(t, "DEL", h.prefix+"~place")
			hometest.Same(t, h, gen)
		}
	}})
	if err == nil {
		t.Error("placed")
	}
	hometest.Is(t, h, gen)
	clean(t, h)
}

// A connection that ends around the rename: Place finds out what became of the store.
func TestCommit(t *testing.T) {
	direct := open(t, "commit")
	for _, arrives := range []bool{true, false} {
		hometest.Same(t, direct, gen)
		u := address(t, direct.store)
		u.Host = hometest.Proxy(t, u.Host, "lacks meta", func() (bool, bool) { return true, arrives })
		h, err := New(u.String())
		if err != nil {
			t.Fatal(err)
		}
		placed, err := h.Place(t.Context(), play, home.PlaceOptions{Replace: true})
		if arrives {
			if err != nil || placed.Backup == "" {
				t.Errorf("placed: %+v, %v", placed, err)
			}
			hometest.Is(t, direct, play)
		} else {
			if err == nil {
				t.Error("not placed, and no error")
			}
			hometest.Is(t, direct, gen)
		}
		clean(t, direct)
	}
}
