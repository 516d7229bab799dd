package claude

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"rehome/formats"
	"rehome/formats/loss"
)

// lists are lists of entries in Redis, with a set of subpaths for each session and a sorted set of
// sessions for each project.
type lists struct {
	options *redis.Options
	prefix  string // empty, or with a colon at its end
}

func newRedis(u *url.URL, options url.Values) (layout, string, error) {
	prefix := strings.TrimRight(option(options, "prefix"), ":")
	server := *u
	server.Scheme, server.RawQuery = strings.TrimPrefix(u.Scheme, "claude+"), options.Encode()
	o, err := redis.ParseURL(server.String())
	if err != nil { // the error quotes parts of the address
		return nil, "", &formats.Error{Err: errors.New("invalid address of Redis"), Hint: "such as claude+redis://host/0?prefix=transcripts"}
	}
	if o.Password == "" {
		o.Password = os.Getenv("REDISCLI_AUTH")
	}
	redis.SetLogger(quiet{})
	name := fmt.Sprintf("%s/%d?prefix=%s", o.Addr, o.DB, url.QueryEscape(prefix))
	if prefix != "" {
		prefix += ":"
	}
	return &lists{options: o, prefix: prefix}, name, nil
}

// quiet drops what the library logs: the same is returned as an error.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

// connect returns a client of a server that answers.
func (l *lists) connect(ctx context.Context) (*redis.Client, error) {
	o := *l.options
	c := redis.NewClient(&o)
	if err := c.Ping(ctx).Err(); err != nil {
		c.Close()
		return nil, &formats.Error{Err: err, Hint: "check the server, and give the password in REDISCLI_AUTH"}
	}
	return c, nil
}

const (
	sessionsKey = ":__sessions"
	subkeysKey  = ":__subkeys"
	staging     = "~rehome:" // after the prefix, before what a placement writes
	page        = 128        // entries that are read at once
)

func (k key) base() string { return k.Project + ":" + k.Session }

func (k key) list() string {
	if k.Subpath == "" {
		return k.base()
	}
	return k.base() + ":" + k.Subpath
}

// pattern returns a pattern of SCAN that matches s.
func pattern(s string) string {
	return regexp.MustCompile(`[\\*?\[\]^]`).ReplaceAllString(s, `\$0`)
}

// oldBackup matches the keys of what Place moves to, where the prefix is empty.
var oldBackup = regexp.MustCompile(`^_bak_[0-9]+:`)

func (l *lists) fetch(ctx context.Context, project string, put func(key, []byte, bool) error, note func(code loss.Code, place string)) error {
	c, err := l.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	sessions, err := l.sessions(ctx, c, project)
	if err != nil {
		return err
	}
	found := int64(0)
	for _, k := range sessions {
		n, err := l.session(ctx, c, k, func(k key, line []byte) error { return put(k, line, true) })
		if found += n; err != nil {
			return err
		}
		if n == 0 {
			note(loss.IndexStale, k.String())
		}
	}
	if l.prefix == "" || project != "" {
		return nil
	}
	all := int64(0)
	if err := scan(ctx, c, pattern(l.prefix)+"*", "list", func(name string) {
		if !strings.HasPrefix(name, l.prefix+staging) {
			all++
		}
	}); err != nil || all <= found {
		return err
	}
	for range all - found {
		note(loss.ListUnnamed, l.prefix+"*")
	}
	return nil
}

// sessions returns the sessions in the index of a project, or of all, and those that have only
// subagents: the adapter does not add them to the index.
func (l *lists) sessions(ctx context.Context, c *redis.Client, project string) ([]key, error) {
	match := pattern(l.prefix) + "*"
	if project != "" {
		match = pattern(l.prefix+project) + ":*"
	}
	found, indexes := map[string]key{}, []string{l.prefix + project + sessionsKey}
	if project == "" {
		indexes = nil
		err := scan(ctx, c, match+sessionsKey, "zset", func(name string) {
			if l.prefix != "" || !oldBackup.MatchString(name) {
				indexes = append(indexes, name)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	for _, name := range indexes {
		project := strings.TrimSuffix(strings.TrimPrefix(name, l.prefix), sessionsKey)
		ids, err := c.ZRange(ctx, name, 0, -1).Result()
		if err != nil {
			return nil, fmt.Errorf("%q: %w", project+sessionsKey, err)
		}
		for _, id := range ids {
			k := key{Project: project, Session: id}
			found[k.base()] = k
		}
	}
	err := scan(ctx, c, match+subkeysKey, "set", func(name string) {
		base := strings.TrimSuffix(strings.TrimPrefix(name, l.prefix), subkeysKey)
		at := strings.LastIndexByte(base, ':')
		if _, known := found[base]; !known && at >= 0 && (l.prefix != "" || !oldBackup.MatchString(name)) {
			found[base] = key{Project: base[:at], Session: base[at+1:]}
		}
	})
	return slices.SortedFunc(maps.Values(found), key.compare), err
}

func scan(ctx context.Context, c *redis.Client, match, kind string, yield func(string)) error {
	it := c.ScanType(ctx, 0, match, 1000, kind).Iterator()
	for it.Next(ctx) {
		yield(it.Val())
	}
	return it.Err()
}

// session calls put with the entries of a session, and returns how many lists it has.
func (l *lists) session(ctx context.Context, c *redis.Client, k key, put func(key, []byte) error) (int64, error) {
	subs, err := c.SMembers(ctx, l.prefix+k.base()+subkeysKey).Result()
	if err != nil {
		return 0, fmt.Errorf("%v: %w", k, err)
	}
	slices.Sort(subs)
	found := int64(0)
	subs = slices.DeleteFunc(subs, func(sub string) bool { return sub == "" })
	for _, sub := range append([]string{""}, subs...) {
		n, err := l.entries(ctx, c, l.prefix, key{k.Project, k.Session, sub}, put)
		if err != nil {
			return found, fmt.Errorf("%v: %w", k, err)
		}
		if n > 0 {
			found++
		}
	}
	return found, nil
}

// bigList is the memory from which a list is read by a script, which bounds each answer.
const bigList = 64 << 20

// pageScript returns entries of a list up to 8 MiB, one at least. One that is too long is empty.
const pageScript = `local out, size = {}, 0
for _, line in ipairs(redis.call('LRANGE', KEYS[1], ARGV[1], ARGV[2])) do
  if #line > tonumber(ARGV[3]) then line = '' end
  size = size + #line
  if #out > 0 and size > 8388608 then break end
  out[#out + 1] = line
end
return out`

// entries calls put with the entries that a list has now, and returns their number.
func (l *lists) entries(ctx context.Context, c *redis.Client, prefix string, k key, put func(key, []byte) error) (int64, error) {
	name := prefix + k.list()
	n, err := c.LLen(ctx, name).Result()
	if err != nil || n == 0 {
		return n, err
	}
	size, err := c.MemoryUsage(ctx, name, 0).Result() // 0: of all entries
	big := err != nil || size > bigList
	err = nil
	for i := int64(0); i < n && err == nil; {
		var lines []string
		last := min(i+page, n) - 1
		if big {
			lines, err = c.Eval(ctx, pageScript, []string{name}, i, last, maxLine).StringSlice()
		} else {
			lines, err = c.LRange(ctx, name, i, last).Result()
		}
		if err == nil && (len(lines) == 0 || !big && int64(len(lines)) != last-i+1) {
			err = errors.New("it changed while it was read")
		}
		i += int64(len(lines))
		for j := 0; j < len(lines) && err == nil; j++ {
			err = put(k, []byte(lines[j]))
		}
	}
	return n, err
}
