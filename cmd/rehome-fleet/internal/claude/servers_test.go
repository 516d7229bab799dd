//go:build services

package claude

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode"

	"github.com/jackc/pgx/v5"
	"github.com/minio/minio-go/v7"
	"github.com/redis/go-redis/v9"

	"rehome/cmd/rehome-fleet/internal/home"
	"rehome/formats"
)

var count atomic.Int64

// fresh returns a name that no test has used.
func fresh() string { return fmt.Sprintf("t%d_%d", time.Now().UnixNano(), count.Add(1)) }

func servers() []server {
	return []server{
		{name: "postgres", address: postgresAddress, insert: postgresInsert, json: postgresJSON, atomic: true},
		{name: "s3", address: s3Address, insert: s3Insert, exact: true},
		{name: "redis", address: redisAddress, insert: redisInsert, exact: true, atomic: true},
	}
}

// backupAddress returns the address of a backup.
func backupAddress(address, backup string) string {
	u, _ := url.Parse(address)
	q := u.Query()
	switch {
	case strings.HasPrefix(u.Scheme, "claude+postgres"):
		q.Set("table", backup)
	case u.Scheme == "claude+redis":
		q.Set("prefix", backup)
	case u.Scheme == "claude+s3":
		u.Host, u.Path, _ = strings.Cut(backup, "/")
	}
	u.RawQuery = q.Encode()
	return u.String()
}

func postgresAddress(t *testing.T) string {
	table, database := fresh(), need(t, "REHOME_TEST_POSTGRES")
	t.Cleanup(func() {
		postgresExec(t, "DROP TABLE IF EXISTS "+table+", "+table+"_bak_1, "+table+"_bak_2")
	})
	return "claude+" + database + with(database) + "table=" + table
}

func postgresExec(t *testing.T, sql string, args ...any) {
	t.Helper()
	c, err := pgx.Connect(context.Background(), need(t, "REHOME_TEST_POSTGRES"))
	if err == nil {
		defer c.Close(context.Background())
		_, err = c.Exec(context.Background(), sql, args...)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func table(address string) string {
	u, _ := url.Parse(address)
	return u.Query().Get("table")
}

func postgresMake(t *testing.T, address, kind string) {
	t.Helper()
	postgresExec(t, fmt.Sprintf(`CREATE TABLE IF NOT EXISTS %s (id BIGSERIAL PRIMARY KEY, project_key TEXT NOT NULL, session_id TEXT NOT NULL,
subpath TEXT, entry %s NOT NULL, created_at TIMESTAMPTZ NOT NULL DEFAULT NOW())`, table(address), kind))
}

func postgresInsert(t *testing.T, address string, k key, line string) bool {
	postgresMake(t, address, "jsonb")
	postgresExec(t, "INSERT INTO "+table(address)+" (project_key, session_id, subpath, entry) VALUES ($1, $2, NULLIF($3, ''), $4::text::jsonb)", k.Project, k.Session, k.Subpath, line)
	return true
}

func postgresJSON(t *testing.T, address string) { postgresMake(t, address, "json") }

func s3Client(t *testing.T, address string) *s3 {
	t.Helper()
	return open(t, address).layout.(*s3)
}

func s3Address(t *testing.T) string {
	t.Setenv("AWS_ENDPOINT_URL", need(t, "REHOME_TEST_S3"))
	address := "claude+s3://rehome-test/" + fresh()
	client := s3Client(t, address).client
	if ok, err := client.BucketExists(context.Background(), "rehome-test"); err == nil && !ok {
		err = client.MakeBucket(context.Background(), "rehome-test", minio.MakeBucketOptions{})
		if err != nil {
			t.Fatal(err)
		}
	} else if err != nil {
		t.Fatal(err)
	}
	return address
}

// s3Insert reports whether the server has such names. The one that is tested with keeps objects as
// files, so that it has no "..", and lists no control characters.
func s3Insert(t *testing.T, address string, k key, line string) bool {
	if strings.Contains(s3Client(t, address).folder(k), "..") || strings.ContainsFunc(k.Project+k.Session+k.Subpath, unicode.IsControl) {
		return false
	}
	s := s3Client(t, address)
	name := fmt.Sprintf("%spart-%013d-%06x.jsonl", s.folder(k), time.Now().UnixMilli(), count.Add(1))
	_, err := s.client.PutObject(context.Background(), s.bucket, name, strings.NewReader(line+"\n"), int64(len(line))+1, minio.PutObjectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return true
}

func redisAddress(t *testing.T) string {
	server := need(t, "REHOME_TEST_REDIS")
	return "claude+" + server + with(server) + "prefix=" + fresh()
}

func redisInsert(t *testing.T, address string, k key, line string) bool {
	l := open(t, address).layout.(*lists)
	ctx := context.Background()
	c, err := l.connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.RPush(ctx, l.prefix+k.list(), line)
		if k.Subpath != "" {
			p.SAdd(ctx, l.prefix+k.base()+subkeysKey, k.Subpath)
		}
		p.ZAdd(ctx, l.prefix+k.Project+sessionsKey, redis.Z{Score: 1, Member: k.Session})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return true
}

// TestNothingExpires looks at every key of a placement: staged lists expire, placed ones do not.
func TestNothingExpires(t *testing.T) {
	address, ctx := redisAddress(t), context.Background()
	dir := write(t, map[string]string{"projects/p/s.jsonl": `{"n":1}`, "projects/p/s/subagents/agent-a.jsonl": `{"n":2}`})
	if _, err := open(t, address).Place(ctx, dir, home.PlaceOptions{}); err != nil {
		t.Fatal(err)
	}
	l := open(t, address).layout.(*lists)
	c, err := l.connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	keys, err := c.Keys(ctx, l.prefix+"*").Result()
	if err != nil || len(keys) != 4 {
		t.Errorf("keys %q, %v", keys, err)
	}
	for _, k := range keys {
		if left, err := c.TTL(ctx, k).Result(); left != -1 || err != nil {
			t.Errorf("%s expires in %v, %v", k, left, err)
		}
	}
}

// redisClient returns a client of the server of an address.
func redisClient(t *testing.T, address string) (*lists, *redis.Client) {
	t.Helper()
	l := open(t, address).layout.(*lists)
	c, err := l.connect(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return l, c
}

// TestUnnamedListIsKept replaces a session with a list that its index does not name.
func TestUnnamedListIsKept(t *testing.T) {
	address, ctx := redisAddress(t), context.Background()
	l, c := redisClient(t, address)
	redisInsert(t, address, key{"p", "s", ""}, `{"n":1}`)
	if err := c.RPush(ctx, l.prefix+"p:s:subagents/agent-a", `{"only":"copy"}`).Err(); err != nil {
		t.Fatal(err)
	}
	dir := write(t, map[string]string{"projects/p/s.jsonl": `{"n":2}`, "projects/p/s/subagents/agent-a.jsonl": `{"n":3}`})
	placed, err := open(t, address).Place(ctx, dir, home.PlaceOptions{Replace: true})
	if err != nil || !holds(t, address, dir) {
		t.Fatalf("%+v, %v", placed, err)
	}
	if got, err := c.LRange(ctx, placed.Backup+":p:s:subagents/agent-a", 0, -1).Result(); err != nil || !slices.Equal(got, []string{`{"only":"copy"}`}) {
		t.Errorf("the backup has %q, %v", got, err)
	}
}

// TestBackupTaken commits a replacement whose backup another run has made meanwhile.
func TestBackupTaken(t *testing.T) {
	address, ctx := redisAddress(t), context.Background()
	l, c := redisClient(t, address)
	redisInsert(t, address, key{"p", "s", ""}, `{"n":1}`)
	script, _ := scripts.ReadFile("commit.lua")
	backup := strings.TrimSuffix(l.prefix, ":") + "_bak_1:"
	c.ZAdd(ctx, backup+"p:__sessions", redis.Z{Member: "s"})
	c.RPush(ctx, backup+"p:s", `{"first":1}`)
	c.RPush(ctx, l.prefix+"stage:p:s", `{"n":2}`)
	err := c.Eval(ctx, string(script), nil, l.prefix, backup, l.prefix+"stage:", "p", "s", 1, 1, 1, 0).Err()
	got, _ := c.LRange(ctx, backup+"p:s", 0, -1).Result()
	if err == nil || !strings.HasPrefix(err.Error(), "BUSY ") || !slices.Equal(got, []string{`{"first":1}`}) {
		t.Errorf("%v; the first backup is %q", err, got)
	}
}

// TestReservedNames places names that the layout uses for something else, or reads as other ones.
func TestReservedNames(t *testing.T) {
	each(t, func(t *testing.T, s server) {
		for _, name := range map[string][]string{
			"redis": {"p/s/__subkeys", "p/__sessions", "~rehome/s"},
			"s3":    {"a%2Fb/s", "p/s/subagents/20000000-0000-4000-8000-000000000001", "%/s"},
		}[s.name] {
			address, ctx := s.address(t), context.Background()
			s.insert(t, address, key{"p", "old", ""}, `{"n":1}`)
			before, _ := fetch(t, address)
			dir := write(t, map[string]string{"projects/" + name + ".jsonl": `{"n":2}`, "projects/p/a.jsonl": `{"n":3}`})
			if _, err := open(t, address).Place(ctx, dir, home.PlaceOptions{Replace: true}); err == nil || !holds(t, address, before) {
				t.Errorf("%s: placed, or something was: %v", name, err)
			}
		}
	})
}

// TestLongList reads a list in answers of bounded size.
func TestLongList(t *testing.T) {
	address, ctx := redisAddress(t), context.Background()
	l, c := redisClient(t, address)
	k, long := key{"p", "s", ""}, `{"x":"`+strings.Repeat("x", maxLine)+`"}`
	some := `{"x":"` + strings.Repeat("x", 3<<20) + `"}`
	for _, line := range []string{some, long, some, some, some, `{"n":1}`} {
		if err := c.RPush(ctx, l.prefix+k.list(), line).Err(); err != nil {
			t.Fatal(err)
		}
	}
	defer c.Del(ctx, l.prefix+k.list())
	var got []int
	n, err := l.entries(ctx, c, l.prefix, k, func(_ key, line []byte) error {
		got = append(got, len(line))
		return nil
	})
	if want := []int{len(some), 0, len(some), len(some), len(some), 7}; n != 6 || err != nil || !slices.Equal(got, want) {
		t.Errorf("%d, %v: %v, want %v", n, err, got, want)
	}
}

// TestForgetful places in a server that keeps nothing on disk, or evicts what it holds.
func TestForgetful(t *testing.T) {
	address, ctx := redisAddress(t), context.Background()
	_, c := redisClient(t, address)
	set := func(name, value string) {
		t.Helper()
		if err := c.ConfigSet(ctx, name, value).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"save", "appendonly", "maxmemory-policy"} {
		old := c.ConfigGet(ctx, name).Val()[name]
		defer set(name, old)
	}
	dir := write(t, map[string]string{"projects/p/s.jsonl": `{"n":1}`})
	set("appendonly", "no")
	set("save", "")
	if placed, err := open(t, address).Place(ctx, dir, home.PlaceOptions{}); err != nil || !strings.Contains(placed.Warning, "nothing on disk") {
		t.Errorf("%+v, %v", placed, err)
	}
	set("save", "3600 1")
	if placed, err := open(t, address).Place(ctx, dir, home.PlaceOptions{}); err != nil || placed.Warning != "" {
		t.Errorf("%+v, %v", placed, err)
	}
	set("maxmemory-policy", "allkeys-lru")
	if _, err := open(t, address).Place(ctx, dir, home.PlaceOptions{}); err == nil || !strings.Contains(err.Error(), "allkeys-lru") {
		t.Error(err)
	}
}

// TestHiddenRows reads and writes a table with a policy that hides rows: that is an error, because
// what is hidden would be missing without a word.
func TestHiddenRows(t *testing.T) {
	address, ctx := postgresAddress(t), context.Background()
	postgresInsert(t, address, key{"p", "s", ""}, `{"n":1}`)
	name, role := table(address), "r"+fresh()
	postgresExec(t, fmt.Sprintf("CREATE ROLE %[1]s LOGIN PASSWORD 'pw'; GRANT SELECT, INSERT, DELETE ON %[2]s TO %[1]s; ALTER TABLE %[2]s ENABLE ROW LEVEL SECURITY", role, name))
	t.Cleanup(func() { postgresExec(t, fmt.Sprintf("DROP OWNED BY %[1]s; DROP ROLE %[1]s", role)) })
	u, _ := url.Parse(address)
	u.User = url.UserPassword(role, "pw")
	err := open(t, u.String()).Fetch(ctx, filepath.Join(t.TempDir(), "x"))
	if err == nil || !strings.Contains(err.Error(), "row-level security") || !strings.Contains(formats.Hint(err), "BYPASSRLS") {
		t.Errorf("read: %v", err)
	}
}

func TestMissingTable(t *testing.T) {
	err := open(t, postgresAddress(t)).Fetch(context.Background(), filepath.Join(t.TempDir(), "x"))
	if err == nil || !strings.Contains(err.Error(), "no sessions") || strings.Contains(err.Error(), "42P01") || !strings.Contains(formats.Hint(err), "?table=") {
		t.Errorf("%v, hint %q", err, formats.Hint(err))
	}
}

// TestAppendedMeanwhile appends to a session between its last comparison and the commit.
func TestAppendedMeanwhile(t *testing.T) {
	address, ctx, k := postgresAddress(t), context.Background(), key{"p", "s", ""}
	postgresInsert(t, address, k, `{"n":1}`)
	tg, err := open(t, address).layout.begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	src := &source{refuse: tg.refuse, change: tg.change}
	defer src.close()
	err = openSource(ctx, write(t, map[string]string{"projects/p/s.jsonl": `{"n":2}`}), "", src)
	if err == nil {
		err = tg.setAside(ctx, k)
	}
	if err == nil {
		err = tg.put(ctx, src.transcripts, func(tr *transcript, yield func(entry) error) error { return src.entries(ctx, tr, yield) })
	}
	if err != nil {
		t.Fatal(err)
	}
	postgresExec(t, "INSERT INTO "+table(address)+` (project_key, session_id, entry) VALUES ('p', 's', '{"late":1}')`)
	_, err = tg.commit(ctx)
	tg.close()
	if !errors.Is(err, formats.ErrBusy) {
		t.Errorf("committed: %v", err)
	}
	got, _, err := load(func() string { d, _ := fetch(t, address); return d }(), "")
	if err != nil || len(got[k]) != 2 || got[k][0] != `{"n":1}` {
		t.Errorf("%v, %v", got, err)
	}
}

// TestBackupIsNamed fails after a session was moved to the backup.
func TestBackupIsNamed(t *testing.T) {
	address, ctx := s3Address(t), context.Background()
	s3Insert(t, address, key{"p", "s", ""}, `{"n":1}`)
	dir := write(t, map[string]string{"projects/p/s.jsonl": strings.Repeat("{\"n\":2}\n", 100000)})
	_, err := open(t, address).Place(ctx, dir, home.PlaceOptions{Replace: true, Progress: func(int64, int64) {
		os.Truncate(filepath.Join(dir, "projects/p/s.jsonl"), 16)
	}})
	if err == nil || !strings.Contains(err.Error(), "_bak_1") {
		t.Errorf("the backup is not named: %v", err)
	}
}
