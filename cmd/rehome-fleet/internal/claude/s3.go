package claude

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"rehome/formats"
	"rehome/formats/loss"
)

// s3 is a prefix of a bucket with an object for each batch of entries.
type s3 struct {
	client *minio.Client
	bucket string
	prefix string // empty, or with a slash at its end
}

func newS3(u *url.URL, options url.Values) (layout, string, error) {
	switch {
	case u.User != nil:
		return nil, "", &formats.Error{Err: errors.New("credentials in the address"), Hint: "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"}
	case u.Port() != "" || u.Host == "":
		return nil, "", &formats.Error{Err: errors.New("the address names no bucket"), Hint: "such as claude+s3://bucket/prefix, with the server in AWS_ENDPOINT_URL"}
	case len(options) > 0:
		return nil, "", errors.New("unknown option in the address")
	}
	endpoint := "https://s3.amazonaws.com"
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"} {
		if v := os.Getenv(name); v != "" {
			endpoint = v
		}
	}
	server, err := url.Parse(endpoint)
	if err != nil || server.Host == "" || server.User != nil || server.Scheme != "http" && server.Scheme != "https" {
		return nil, "", &formats.Error{Err: errors.New("invalid AWS_ENDPOINT_URL"), Hint: "such as https://s3.example.com"}
	}
	keys := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{}}
	client, err := minio.New(server.Host, &minio.Options{Creds: credentials.NewChainCredentials(keys), Secure: server.Scheme == "https", Region: cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")), MaxRetries: 3})
	if err != nil {
		return nil, "", err
	}
	s := &s3{client: client, bucket: u.Host, prefix: strings.Trim(u.Path, "/")}
	name := s.bucket + "/" + s.prefix
	if s.prefix != "" {
		s.prefix += "/"
	}
	return s, name, nil
}

// part matches the names of objects with entries, and finds their time and suffix.
var part = regexp.MustCompile(`^part-([0-9]{13})-([0-9a-f]{6})\.jsonl$`)

// backups matches what Place moves to. A prefix does not contain its own.
var backups = regexp.MustCompile(`^_bak_[0-9]+/`)

// object is a part of a transcript.
type object struct {
	minio.ObjectInfo
	key  key
	name string // without its folder
}

// list calls yield with the parts of each transcript below a prefix, in order.
func (s *s3) list(ctx context.Context, below string, yield func([]object) error, note func(code loss.Code, place string)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var batch []object
	flush := func() error {
		slices.SortFunc(batch, func(a, b object) int { return strings.Compare(a.name, b.name) })
		err := error(nil)
		if len(batch) > 0 {
			err = yield(batch)
		}
		batch = batch[:0]
		return err
	}
	for info := range s.client.ListObjectsIter(ctx, s.bucket, minio.ListObjectsOptions{Prefix: s.prefix + below, Recursive: true}) {
		if info.Err != nil {
			return info.Err
		}
		rel := strings.TrimPrefix(info.Key, s.prefix)
		dir, name := path.Split(rel)
		if s.prefix == "" && backups.MatchString(rel) || strings.HasSuffix(rel, "/") {
			continue
		}
		k, ok := objectKey(strings.TrimSuffix(dir, "/"))
		if !ok || !part.MatchString(name) {
			note(loss.ObjectNotPart, rel[:min(len(rel), maxShown)])
			continue
		}
		if len(batch) > 0 && batch[0].key != k {
			if err := flush(); err != nil {
				return err
			}
		}
		batch = append(batch, object{info, k, name})
	}
	return errors.Join(ctx.Err(), flush())
}

// objectKey returns the key of the transcript with the parts in a folder. A project can contain
// slashes if its sessions are named by UUIDs, as clients name them.
func objectKey(dir string) (key, bool) {
	parts := strings.Split(dir, "/")
	at := slices.IndexFunc(parts, formats.IsUUID)
	if at < 1 {
		at = 1
	}
	if len(parts) < 2 {
		return key{}, false
	}
	return key{strings.Join(parts[:at], "/"), parts[at], strings.Join(parts[at+1:], "/")}, true
}

// folder returns the folder of a transcript.
func (s *s3) folder(k key) string {
	dir := s.prefix + k.Project + "/" + k.Session + "/"
	if k.Subpath != "" {
		dir += k.Subpath + "/"
	}
	return dir
}

// lines calls put with the lines of an object. It has to be the one that was listed.
func (s *s3) lines(ctx context.Context, o object, put func(key, []byte) error) error {
	get := minio.GetObjectOptions{}
	if err := get.SetMatchETag(o.ETag); err != nil {
		return err
	}
	body, err := s.client.GetObject(ctx, s.bucket, o.Key, get)
	if err != nil {
		return err
	}
	defer body.Close()
	r, line := bufio.NewReaderSize(body, 1<<16), []byte(nil)
	for err == nil {
		line, err = readLine(r, line[:0])
		switch trimmed := bytes.TrimSpace(line); {
		case err != nil && !errors.Is(err, io.EOF):
			return fmt.Errorf("%v: %w", o.key, err)
		case len(trimmed) > 0:
			if err := put(o.key, trimmed); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *s3) fetch(ctx context.Context, project string, put func(key, []byte, bool) error, note func(code loss.Code, place string)) error {
	below := ""
	if project != "" {
		below = project + "/"
	}
	return s.list(ctx, below, func(parts []object) error {
		for _, o := range parts {
			if project != "" && o.key.Project != project {
				continue
			}
			if err := s.lines(ctx, o, func(k key, line []byte) error { return put(k, line, true) }); err != nil {
				return err
			}
		}
		return nil
	}, note)
}
