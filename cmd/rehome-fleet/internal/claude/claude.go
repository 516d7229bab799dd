// Package claude reaches the stores of sessions that applications of Claude's Agent SDK keep on
// servers, in the layouts of the SDK's three reference adapters:
//
//	claude+postgres://host/db?table=claude_session_entries
//	    a row for each entry: id, project_key, session_id, subpath, entry jsonb, created_at
//	claude+redis://host/0?prefix=transcripts
//	    {prefix}:{project}:{session}[:{subpath}]   list of entries
//	    {prefix}:{project}:{session}:__subkeys     set of subpaths
//	    {prefix}:{project}:__sessions              sorted set of sessions by time in ms
//	claude+s3://bucket/prefix
//	    {prefix}/{project}/{session}/[{subpath}/]part-{13 digits of ms}-{6 hex}.jsonl
//
// An entry is a line of a transcript. The subpath of a subagent is the path of its file below the
// session's folder, without .jsonl; the .meta.json file beside it is an entry of type
// agent_metadata, of which the last one counts. Nothing else that Claude Code keeps beside a
// session has a place in these layouts.
//
// A session is what is placed and refused: other sessions of the same store are left alone, and
// a session that is there with equal entries is already placed. The option project=KEY narrows a
// store to one project; it replaces the project of what is placed.
//
// # Not verified
//
// Redis Cluster, and S3 of other vendors than versitygw.
package claude

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"

	"rehome/cmd/rehome-fleet/internal/home"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// Store is a store of sessions on a server. It is a home.Home.
type Store struct {
	name, project string
	secrets       home.Secrets
	layout        layout
	lost          loss.Sink
}

var _ home.Home = (*Store)(nil)

// layout is one of the servers' layouts.
type layout interface {
	// fetch calls put with each entry of a project, of all if it is empty, as they are at one
	// moment if the server can do that. compact reports that entries are as a client wrote them.
	fetch(ctx context.Context, project string, put func(k key, line []byte, compact bool) error, note func(code loss.Code, place string)) error
	// begin starts a placement.
	begin(ctx context.Context) (target, error)
}

// target is a placement. Nothing of it is visible before commit, unless its layout says so.
type target interface {
	// refuse returns why the store cannot hold an entry, "" if it can, and change how it changes it.
	refuse(traits) string
	change(traits) []loss.Code
	// has reports whether a session exists, and fails if the layout has no place for its names.
	// What a killed placement of it left does not count.
	has(ctx context.Context, session []*transcript) (bool, error)
	// read calls put with the entries of a session: those that were put, or those that exist.
	read(ctx context.Context, session key, put func(k key, line []byte) error) error
	// setAside moves a session that exists to the backup.
	setAside(ctx context.Context, session key) error
	// put writes the transcripts of a session.
	put(ctx context.Context, session []*transcript, entries func(*transcript, func(entry) error) error) error
	// commit makes everything visible. backup is the name of what setAside moved.
	commit(ctx context.Context) (backup string, err error)
	close()
}

// layouts are the schemes of addresses.
func layouts() map[string]func(u *url.URL, options url.Values) (layout, string, error) {
	return map[string]func(*url.URL, url.Values) (layout, string, error){
		"claude+postgres": newPostgres, "claude+postgresql": newPostgres, "claude+s3": newS3,
		"claude+redis": newRedis, "claude+rediss": newRedis,
	}
}

// Schemes returns the schemes of the addresses that New takes.
func Schemes() []string { return slices.Sorted(maps.Keys(layouts())) }

// New returns the store at an address. It does not connect.
func New(address string) (*Store, error) {
	scheme, _, _ := strings.Cut(address, "://")
	open := layouts()[scheme]
	if open == nil {
		return nil, &formats.Error{At: "address", Err: errors.New("not a store of Claude's sessions"), Hint: "such as claude+postgres://host/database"}
	}
	u, err := url.Parse(address)
	// An @ after the server is in a password with / ? or #, half of which would be a name.
	if err == nil && (strings.Contains(u.Path+u.RawQuery, "@") || u.Fragment != "") {
		err = errors.New("ambiguous")
	}
	if err != nil { // the error of url.Parse quotes the address
		return nil, &formats.Error{At: scheme, Err: errors.New("invalid address"), Hint: "percent-encode special characters, and keep passwords out of it"}
	}
	options := u.Query()
	project := options.Get("project")
	options.Del("project")
	l, name, err := open(u, options)
	if err != nil {
		return nil, &formats.Error{At: scheme, Err: err}
	}
	password, _ := u.User.Password()
	secrets := home.Secrets{password, u.Query().Get("password"), u.Query().Get("sslpassword")}
	for _, name := range []string{"REDISCLI_AUTH", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"} {
		secrets = append(secrets, os.Getenv(name))
	}
	if p, ok := l.(*postgres); ok {
		secrets = append(secrets, p.config.Password)
	}
	return &Store{name: scheme + "://" + name, project: project, secrets: secrets, layout: l}, nil
}

// option removes an option and returns its value.
func option(options url.Values, name string) string {
	v := options.Get(name)
	options.Del(name)
	return v
}

// Name implements home.Home.
func (s *Store) Name() string { return s.name }

// Format implements home.Home.
func (s *Store) Format() string { return "claude-code" }

// Many is true: a table or a bucket holds the sessions of many projects.
func (*Store) Many() bool { return true }

// OnLoss implements home.Loser.
func (s *Store) OnLoss(lost loss.Sink) { s.lost = lost }

// Fetch implements home.Home.
func (s *Store) Fetch(ctx context.Context, path string) (err error) {
	note := func(code loss.Code, place string) {
		s.lost.Add(loss.Loss{Code: code, At: store.Addr{File: place}})
	}
	f, err := newFolder(path, s.name, note)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(path)
		}
	}()
	err = s.layout.fetch(ctx, s.project, f.put, note)
	if err = errors.Join(s.fail(err), f.close()); err != nil {
		return err
	}
	if f.files == 0 {
		return &formats.Error{At: s.name, Err: errors.New("no sessions")}
	}
	return nil
}

// fail returns err with the store as its place, unless it has one, in words without passwords.
func (s *Store) fail(err error) error {
	if placed := (*formats.Error)(nil); err == nil || errors.As(err, &placed) && placed.At != "" {
		return err
	}
	return &formats.Error{At: s.name, Err: s.secrets.Error(err), Hint: formats.Hint(err)}
}
