//go:build services

package redisdb

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"rehome/cmd/rehome-fleet/internal/home"
	"rehome/cmd/rehome-fleet/internal/home/hometest"
	"rehome/formats"
)

const gen, play = "../../../../testdata/sdk/gen/jsonl", "../../../../testdata/sdk/play/jsonl"

// address returns the URL of a store on the server for tests.
func address(t *testing.T, store string) *url.URL {
	t.Helper()
	u, err := url.Parse(os.Getenv("REHOME_TEST_REDIS"))
	if err != nil || u.Scheme == "" {
		t.Fatal("no server: run `make services`")
	}
	u.RawQuery = url.Values{"store": {store}}.Encode()
	return u
}

// open returns a home whose keys are removed after the test.
func open(t *testing.T, name string) *Home {
	t.Helper()
	h, err := New(address(t, fmt.Sprintf("rehome %d \"%%:%s", os.Getpid(), name)).String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c := h.client()
		defer c.Close()
		for _, k := range keys(t, h, "") {
			c.Del(context.Background(), k)
		}
	})
	return h
}

// keys returns all keys of a home whose names after {STORE} start with a text.
func keys(t *testing.T, h *Home, after string) (out []string) {
	t.Helper()
	c := h.client()
	defer c.Close()
	for it := c.Scan(context.Background(), 0, "*", 1000).Iterator(); it.Next(context.Background()); {
		if strings.HasPrefix(it.Val(), h.prefix+after) {
			out = append(out, it.Val())
		}
	}
	return out
}

// do runs a command.
func do(t *testing.T, args ...any) any {
	t.Helper()
	h, err := New(address(t, "x").String())
	if err != nil {
		t.Fatal(err)
	}
	c := h.client()
	defer c.Close()
	out, err := c.Do(context.Background(), args...).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		t.Fatal(args, err)
	}
	return out
}

// clean fails if something is left of a Place.
func clean(t *testing.T, h *Home) {
	t.Helper()
	for _, after := range []string{"~stage", "~place"} {
		if left := keys(t, h, after); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
	}
}

func TestHome(t *testing.T) {
	hometest.Run(t, func(t *testing.T, name string) home.Home {
		h := open(t, name)
		t.Cleanup(func() { clean(t, h) })
		return h
	})
}

// The keys are those of the layout, and all are registered.
func TestKeys(t *testing.T) {
	h, dir := open(t, "keys"), filepath.Join(t.TempDir(), "store")
	if err := errors.Join(os.Mkdir(dir, 0o700),
		os.WriteFile(dir+"/agents.ndjson", []byte(`{"agentId":"a:%{x}\n","updatedAt":7}`+"\n"), 0o600),
		os.WriteFile(dir+"/runs.ndjson", []byte(`{"agentId":"a:%{x}\n","runId":"r:1","turnNumber":2}`+"\n"), 0o600),
		os.WriteFile(dir+"/run_events.ndjson", []byte(`{"runId":"r:1","seq":2,"idempotencyKey":"k"}`+"\nnone\n"+`{"runId":"r:1","seq":1}`+"\n"), 0o600),
		os.WriteFile(dir+"/checkpoints.ndjson", []byte(`{"agentId":"a:%{x}\n","blobId":"b:2","dataBase64":"AAA="}`+"\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if placed := hometest.Same(t, h, dir); placed.Documents != 5 || placed.Hidden != 1 || placed.Backup != "" {
		t.Errorf("%+v", placed)
	}
	const a, esc = "a:%{x}\n", "a%3A%25{x}\n"
	for _, c := range []struct{ command, key, want string }{
		{"HGETALL", "meta", "[layout 1 ord 3]"},
		{"ZRANGE", "agents", "[" + a + " 7]"},
		{"HGETALL", "agent:" + a, `[doc {"agentId":"a:%{x}\n","updatedAt":7} rev 1]`},
		{"ZRANGE", "runs:" + a, "[r:1 2]"},
		{"HGET", "run:" + esc + ":r:1", `{"agentId":"a:%{x}\n","runId":"r:1","turnNumber":2}`},
		{"ZRANGE", "events:r:1", `[{"runId":"r:1","seq":1} 1 {"runId":"r:1","seq":2,"idempotencyKey":"k"} 2]`},
		{"HGETALL", "streams", "[r:1 2]"},
		{"HGETALL", "idem:r:1", "[k 2]"},
		{"HGETALL", "runagents", "[r:1 " + a + "]"},
		{"HGETALL", "blobs:" + a, "[b:2 \x00\x00]"},
		{"ZRANGE", "blobids:" + a, "[b:2 0]"},
		{"ZRANGE", "ord:agents", "[" + a + " 1]"},
		{"ZRANGE", "ord:runs", "[" + esc + ":r:1 1]"},
		{"ZRANGE", "ord:events", "[2:r:1 1 1:r:1 3]"},
		{"ZRANGE", "ord:blobs", "[" + esc + ":b:2 1]"},
		{"ZRANGE", "rehome:order", "[line/run_events/0000000000000002/2/00000000 2]"},
	} {
		args := []any{c.command, h.prefix + ":" + c.key}
		switch c.command {
		case "ZRANGE":
			args = append(args, 0, -1, "WITHSCORES")
		case "HGET":
			args = append(args, "doc")
		}
		if got := fmt.Sprint(do(t, args...)); got != c.want {
			t.Errorf("%s: %q, want %q", c.key, got, c.want)
		}
	}
	if n, _ := do(t, "SCARD", h.prefix+":keys").(int64); int(n)+1 != len(keys(t, h, ":")) || n != 17 {
		t.Errorf("%d of %q are registered", n, keys(t, h, ":"))
	}
}

// What clients add comes last, and the sidecar no longer belongs to the documents.
func TestAdded(t *testing.T) {
	h, dir := open(t, "added"), filepath.Join(t.TempDir(), "store")
	if err := errors.Join(os.CopyFS(dir, os.DirFS(play)), os.WriteFile(dir+formats.SidecarSuffix, []byte("{}\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	hometest.Same(t, h, dir)
	ord := do(t, "HINCRBY", h.prefix+":meta", "ord", 1)
	do(t, "HSET", h.prefix+":agent:new", "doc", `{"agentId":"new"}`, "rev", 1)
	do(t, "ZADD", h.prefix+":ord:agents", ord, "new")
	out := filepath.Join(t.TempDir(), "out")
	if err := h.Fetch(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	was, _ := os.ReadFile(dir + "/agents.ndjson")
	now, _ := os.ReadFile(out + "/agents.ndjson")
	if string(now) != string(was)+"{\"agentId\":\"new\"}\n" {
		t.Errorf("%s", now)
	}
	if _, err := os.Stat(out + formats.SidecarSuffix); err == nil {
		t.Error("a sidecar of other documents")
	}
	// Keys that do not agree are no store, and leave no files.
	do(t, "DEL", h.prefix+":agent:new")
	out = filepath.Join(t.TempDir(), "out")
	if err := h.Fetch(t.Context(), out); err == nil || !strings.Contains(err.Error(), "new") {
		t.Error(err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("files are left")
	}
}

// Fetch gives a store of one moment, also while it is written to.
func TestMoment(t *testing.T) {
	direct, dir := open(t, "moment"), filepath.Join(t.TempDir(), "store")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(dir+"/agents.ndjson", []byte(`{"agentId":"a","v":1}`+"\n"), 0o600),
		os.WriteFile(dir+"/runs.ndjson", []byte(`{"agentId":"a","runId":"r","v":1}`+"\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	hometest.Same(t, direct, dir)
	u := address(t, direct.store)
	u.Host = hometest.Proxy(t, u.Host, "ord:runs", func() (cut, arrives bool) {
		do(t, "HSET", direct.prefix+":agent:a", "doc", `{"agentId":"a","v":2}`, "rev", 2)
		do(t, "HSET", direct.prefix+":run:a:r", "doc", `{"agentId":"a","runId":"r","v":2}`, "rev", 2)
		return false, true
	})
	h, err := New(u.String())
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	if err := h.Fetch(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	agents, _ := os.ReadFile(out + "/agents.ndjson")
	runs, _ := os.ReadFile(out + "/runs.ndjson")
	if !strings.Contains(string(agents), `"v":2`) || !strings.Contains(string(runs), `"v":2`) {
		t.Errorf("%s%s", agents, runs)
	}
}

// A store of somebody else is neither read nor replaced, and a backup is only read.
func TestForeign(t *testing.T) {
	for what, command := range map[string][]string{
		"layout 2":    {"HSET", ":meta", "layout", "2"},
		"key runs:x":  {"SET", ":runs:x", "mine"},
		"not a store": {"SADD", ":keys", "agents"},
		"lacks meta":  {"SREM", ":keys", "meta"},
	} {
		h, dir := open(t, "foreign "+what), filepath.Join(t.TempDir(), "store")
		if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(dir+"/runs.ndjson", []byte(`{"agentId":"x","runId":"r"}`), 0o600)); err != nil {
			t.Fatal(err)
		}
		if what == "lacks meta" {
			hometest.Same(t, h, gen)
		}
		args := []any{command[0], h.prefix + command[1]}
		for _, a := range command[2:] {
			args = append(args, a)
		}
		do(t, args...)
		before := len(keys(t, h, ""))
		if _, err := h.Place(t.Context(), dir, home.PlaceOptions{Replace: true}); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
		if after := len(keys(t, h, "")); after != before {
			t.Errorf("%s: %d keys, before %d", what, after, before)
		}
	}
	h := open(t, "backup")
	hometest.Same(t, h, gen)
	backup, err := New(address(t, h.store+"~bak-1").String())
	if err != nil {
		t.Fatal(err)
	}
	if placed := hometest.Same(t, h, play); placed.Backup != backup.store {
		t.Errorf("%+v", placed)
	}
	hometest.Is(t, backup, gen)
	if _, err := backup.Place(t.Context(), gen, home.PlaceOptions{Replace: true}); err == nil {
		t.Error("a backup was replaced")
	}
}

// A store in use is not replaced.
func TestBusy(t *testing.T) {
	h := open(t, "busy")
	hometest.Same(t, h, gen)
	do(t, "HSET", h.prefix+":lease:a", "owner", "me", "fence", 1, "until", time.Now().Add(time.Hour).UnixMilli())
	do(t, "SADD", h.prefix+":keys", "lease:a")
	if _, err := h.Place(t.Context(), play, home.PlaceOptions{Replace: true}); !errors.Is(err, formats.ErrBusy) || formats.Hint(err) == "" {
		t.Error(err)
	}
	hometest.Is(t, h, gen)
	clean(t, h)
	do(t, "HSET", h.prefix+":lease:a", "until", time.Now().Add(-time.Second).UnixMilli())
	hometest.Same(t, h, play)
	if left := keys(t, h, ":lease"); len(left) > 0 {
		t.Errorf("%q", left)
	}
}

// Servers that forget are refused.
func TestForgetful(t *testing.T) {
	h := open(t, "forgetful")
	for _, settings := range []map[string]string{{"maxmemory-policy": "allkeys-lru"}, {"appendonly": "no", "save": ""}} {
		for k, v := range settings {
			was, _ := do(t, "CONFIG", "GET", k).([]any)
			do(t, "CONFIG", "SET", k, v)
			t.Cleanup(func() { do(t, "CONFIG", "SET", k, was[1]) })
		}
		if _, err := h.Place(t.Context(), gen, home.PlaceOptions{}); err == nil || formats.Hint(err) == "" {
			t.Errorf("%v: %v", settings, err)
		}
		do(t, "CONFIG", "SET", "maxmemory-policy", "noeviction")
	}
	do(t, "CONFIG", "SET", "save", "3600 1")
	hometest.Same(t, h, gen)
	do(t, "ACL", "SETUSER", "rehome", "on", ">p", "~*", "+@all", "-config")
	t.Cleanup(func() { do(t, "ACL", "DELUSER", "rehome") })
	for _, trusted := range []bool{false, true} {
		u := address(t, h.store)
		u.User = url.UserPassword("rehome", "p")
		if trusted {
			u.RawQuery += "&durable=trusted"
		}
		other, err := New(u.String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := other.Place(t.Context(), gen, home.PlaceOptions{Replace: true}); (err == nil) != trusted {
			t.Errorf("trusted %v: %v", trusted, err)
		}
	}
}

// A server without room keeps what it has, and nothing else.
func TestFull(t *testing.T) {
	h, dir := open(t, "full"), hometest.Events(t, 10_000)
	hometest.Same(t, h, gen)
	t.Cleanup(func() { do(t, "CONFIG", "SET", "maxmemory", 0) })
	for _, line := range strings.Fields(do(t, "INFO", "memory").(string)) {
		if used, ok := strings.CutPrefix(line, "used_memory:"); ok {
			n, _ := strconv.Atoi(used)
			do(t, "CONFIG", "SET", "maxmemory", n+(4<<20))
		}
	}
	if _, err := h.Place(t.Context(), dir, home.PlaceOptions{Replace: true}); !errors.Is(err, formats.ErrFull) {
		t.Error(err)
	}
	clean(t, h)
	hometest.Is(t, h, gen)
}

func TestMain(m *testing.M) { hometest.Main(m, New) }

// Memory does not grow with a store.
func TestMany(t *testing.T) {
	h := open(t, "many")
	hometest.Many(t, h, address(t, h.store).String(), 20_000)
}
