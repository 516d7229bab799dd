package claude

import (
	"context"
	"crypto/rand"
	"embed"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"rehome/formats"
	"rehome/formats/loss"
)

func (l *lists) begin(ctx context.Context) (target, error) {
	c, err := l.connect(ctx)
	if err != nil {
		return nil, err
	}
	t := &redisTarget{lists: l, client: c, stage: l.prefix + staging + rand.Text() + ":", staged: map[key][]*transcript{}}
	if err := t.durable(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return t, nil
}

// durable fails if the server forgets what it holds. One that does not say is reported.
func (t *redisTarget) durable(ctx context.Context) error {
	has := map[string]string{}
	for _, name := range []string{"maxmemory-policy", "save", "appendonly"} {
		found, err := t.client.ConfigGet(ctx, name).Result()
		if err != nil || len(found) == 0 {
			t.warning = "the server does not report whether it evicts keys (CONFIG GET maxmemory-policy) and keeps them on disk (save, appendonly)"
			return ctx.Err()
		}
		has[name] = found[name]
	}
	switch policy := has["maxmemory-policy"]; {
	case strings.HasPrefix(policy, "allkeys-"):
		return &formats.Error{Err: fmt.Errorf("the server drops keys when its memory is full (maxmemory-policy %s)", policy), Hint: "set maxmemory-policy to noeviction, or use another server"}
	case has["save"] == "" && has["appendonly"] != "yes":
		t.warning = "the server keeps nothing on disk (save and appendonly are off): a restart loses the sessions"
	}
	return nil
}

// redisTarget stages lists, which expire unless they are moved to their places at once.
type redisTarget struct {
	*lists
	client *redis.Client
	stage  string
	staged map[key][]*transcript
	aside  map[key]bool
	order  []key

	warning string // about the server; "" = none
}

func (t *redisTarget) warn() string { return t.warning }

// expires is how long a killed placement leaves its staged lists.
const expires = time.Hour

//go:embed commit.lua
var scripts embed.FS

func (t *redisTarget) refuse(traits) string      { return "" }
func (t *redisTarget) change(traits) []loss.Code { return nil }

func (t *redisTarget) has(ctx context.Context, session []*transcript) (bool, error) {
	base := t.prefix + session[0].Key.base()
	keys := []string{base, base + subkeysKey}
	for _, tr := range session {
		if t.reserved(tr.Key) {
			return false, fmt.Errorf("%v: a name that this layout uses for something else", tr.Key)
		}
		keys = append(keys, t.prefix+tr.Key.list())
	}
	n, err := t.client.Exists(ctx, keys...).Result()
	return n > 0, err
}

// reserved reports whether the list of a transcript would have the name of an index, or one that
// fetch takes for something else.
func (t *redisTarget) reserved(k key) bool {
	return k.Project == "" || k.Session == "" || strings.HasPrefix(k.Project, strings.TrimSuffix(staging, ":")) ||
		strings.HasSuffix(k.list(), subkeysKey) || strings.HasSuffix(k.list(), sessionsKey) ||
		t.prefix == "" && oldBackup.MatchString(k.list())
}

func (t *redisTarget) read(ctx context.Context, k key, put func(key, []byte) error) error {
	staged, err := t.staged[k], error(nil)
	if staged == nil {
		_, err = t.session(ctx, t.client, k, put)
	}
	for i := 0; i < len(staged) && err == nil; i++ {
		_, err = t.entries(ctx, t.client, t.stage, staged[i].Key, put)
	}
	return err
}

func (t *redisTarget) setAside(_ context.Context, k key) error {
	if t.aside == nil {
		t.aside = map[key]bool{}
	}
	t.aside[k] = true
	return nil
}

func (t *redisTarget) put(ctx context.Context, session []*transcript, entries func(*transcript, func(entry) error) error) error {
	k := session[0].Key.session()
	t.staged[k], t.order = session, append(t.order, k)
	for _, tr := range session {
		var batch []any
		size := 0
		flush := func() error {
			_, err := t.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
				p.RPush(ctx, t.stage+tr.Key.list(), batch...)
				p.Expire(ctx, t.stage+tr.Key.list(), expires)
				return nil
			})
			batch, size = batch[:0], 0
			return err
		}
		err := entries(tr, func(e entry) error {
			batch = append(batch, string(e.Line))
			if size += len(e.Line); size < 1<<20 && len(batch) < 10000 {
				return nil
			}
			return flush()
		})
		if err == nil && len(batch) > 0 {
			err = flush()
		}
		if err != nil {
			return fmt.Errorf("%v: %w", tr.Key, err)
		}
	}
	return nil
}

// free returns the prefix of a new backup.
func (t *redisTarget) free(ctx context.Context) (string, error) {
	for n := 1; ; n++ {
		name, taken := fmt.Sprintf("%s_bak_%d", strings.TrimSuffix(t.prefix, ":"), n), false
		if err := scan(ctx, t.client, pattern(name)+":*", "zset", func(string) { taken = true }); err != nil || !taken {
			return name, err
		}
	}
}

func (t *redisTarget) commit(ctx context.Context) (string, error) {
	backup, now := "", time.Now()
	if len(t.aside) > 0 {
		var err error
		if backup, err = t.free(ctx); err != nil {
			return "", err
		}
	}
	args := []any{t.prefix, backup + ":", t.stage}
	for _, k := range t.order {
		own, score, subs := 0, now, []any(nil)
		for _, tr := range t.staged[k] {
			switch {
			case tr.Key.Subpath != "":
				subs = append(subs, tr.Key.Subpath)
			default:
				if own = 1; !tr.Last.IsZero() && tr.Last.Before(now) {
					score = tr.Last
				}
			}
			if err := t.client.Expire(ctx, t.stage+tr.Key.list(), expires).Err(); err != nil {
				return "", err
			}
		}
		replace := 0
		if t.aside[k] {
			replace = 1
		}
		args = append(append(args, k.Project, k.Session, score.UnixMilli(), replace, own, len(subs)), subs...)
	}
	if len(t.order) == 0 {
		return "", nil
	}
	script, err := scripts.ReadFile("commit.lua")
	if err != nil {
		return "", err
	}
	err = t.client.Eval(ctx, string(script), nil, args...).Err()
	if err != nil && strings.HasPrefix(err.Error(), "BUSY ") {
		err = errRaced()
	}
	return backup, err
}

// close removes what was staged and not moved.
func (t *redisTarget) close() {
	ctx := context.Background()
	for _, session := range t.staged {
		for _, tr := range session {
			t.client.Del(ctx, t.stage+tr.Key.list())
		}
	}
	t.client.Close()
}
