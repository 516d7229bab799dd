// Package bucket reads and writes a tree of objects: a folder, or a bucket of an S3 server.
//
// What is published appears in a fixed order: first the objects, then the one that says that
// they are complete, which is never overwritten. Readers trust only what that one lists. In
// a folder all of them appear at once, by one rename.
package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"path/filepath"
	"strings"

	"rehome/formats"
)

var (
	// ErrExists means that the last object of a Stage exists already.
	ErrExists = formats.ErrExists
	// ErrChanged means that an object is not the one that was listed.
	ErrChanged = errors.New("changed after it was listed")
	// ErrGone means that an object was deleted after it was listed.
	ErrGone = errors.New("deleted after it was listed")
)

// Object is an object in a listing.
type Object struct {
	Key  string // its slash path below the bucket's prefix
	Size int64
	Tag  string // changes with its content: the ETag, or the time of modification
	Bad  string // why it cannot be read, such as "symbolic link"; "" if it can
}

// Bucket is a tree of objects. It is safe for concurrent use.
type Bucket interface {
	// Name returns the address without credentials.
	Name() string
	// List yields the objects in the order of the bytes of their keys.
	List(ctx context.Context) iter.Seq2[Object, error]
	// Fetch writes an object to a new file. It returns ErrChanged or ErrGone if the object
	// is no longer the one that was listed.
	Fetch(ctx context.Context, o Object, path string) error
	// Open opens an object. The error is fs.ErrNotExist if there is none.
	Open(ctx context.Context, key string) (io.ReadCloser, error)
	// Sweep removes the stages that killed runs left.
	Sweep()
	// Stage makes a private folder for objects to publish.
	Stage() (*Stage, error)
}

// Stage is a private folder.
type Stage struct {
	Dir string

	commit func(ctx context.Context, prefix, last string) error
	close  func() error
}

// Commit publishes the files in Dir below a prefix, the file last after all others. It
// returns ErrExists if that one exists: what exists is not changed.
func (s *Stage) Commit(ctx context.Context, prefix, last string) error {
	return s.commit(ctx, prefix, last)
}

// Close removes the folder.
func (s *Stage) Close() error { return s.close() }

// Options are the options of Open.
type Options struct {
	Getenv  func(string) string
	Scratch string // the folder for stages of a server; "": that of the system
}

// Open opens a folder, or s3://bucket/prefix.
func Open(address string, o Options) (Bucket, error) {
	scheme, _, found := strings.Cut(address, "://")
	switch {
	case !found:
		if address == "" {
			return nil, &formats.Error{At: `""`, Err: errors.New("no path")}
		}
		abs, err := filepath.Abs(address)
		return folder{abs}, err
	case strings.EqualFold(scheme, "s3"):
		return openS3(address, o)
	}
	return nil, &formats.Error{At: scheme + "://", Err: errors.New("unsupported address"), Hint: "use a folder, or s3://bucket/prefix"}
}

// parse splits an address s3://bucket/prefix. It repeats no part of an address that may hold
// credentials.
func parse(address string) (bucket, prefix string, err error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		err = errors.New("invalid address")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		err = errors.New("an address has no credentials and no options")
	case u.Host == "" || u.Port() != "":
		err = errors.New("no bucket")
	}
	if err != nil {
		return "", "", &formats.Error{At: "s3://", Err: err, Hint: "use s3://bucket/prefix, and AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY for the credentials"}
	}
	prefix = strings.Trim(u.Path, "/")
	if prefix != "" {
		prefix += "/"
	}
	return u.Host, prefix, nil
}

// Unsafe returns why a key cannot be the path of a file, or "".
func Unsafe(key string) string {
	const maxName, maxKey = 240, 3000 // of file systems
	if len(key) > maxKey {
		return "name too long"
	}
	for name := range strings.SplitSeq(key, "/") {
		switch {
		case name == "" || name == "." || name == "..":
			return fmt.Sprintf("path element %q", name)
		case len(name) > maxName:
			return "name too long"
		}
	}
	switch {
	case strings.ContainsRune(key, 0):
		return "NUL in the name"
	case strings.ToValidUTF8(key, "") != key:
		return "name is not UTF-8"
	case !filepath.IsLocal(filepath.FromSlash(key)):
		return "not a path of this system"
	}
	return ""
}
