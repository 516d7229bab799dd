//go:build services

package claude

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode"

	"github.com/jackc/pgx/v5"
	"github.com/minio/minio-go/v7"
	"github.com/redis/go-redis/v9"

	"rehome/cmd/rehome-fleet/internal/home"
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
