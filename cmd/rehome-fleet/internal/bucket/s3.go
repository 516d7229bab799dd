package bucket

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"rehome/formats"
	"rehome/internal/scratch"
)

type server struct {
	client         *minio.Client
	bucket, prefix string
	scratch        string
}

func openS3(address string, o Options) (Bucket, error) {
	bucket, prefix, err := parse(address)
	if err != nil {
		return nil, err
	}
	endpoint := cmp.Or(o.Getenv("AWS_ENDPOINT_URL_S3"), o.Getenv("AWS_ENDPOINT_URL"), "https://s3.amazonaws.com")
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return nil, &formats.Error{At: "AWS_ENDPOINT_URL", Err: errors.New("invalid address"), Hint: "use https://host, and AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY for the credentials"}
	}
	lookup := minio.BucketLookupAuto
	if !strings.HasSuffix(u.Hostname(), ".amazonaws.com") {
		lookup = minio.BucketLookupPath
	}
	client, err := minio.New(u.Host, &minio.Options{
		Creds:        credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{Client: http.DefaultClient}}),
		Secure:       u.Scheme == "https",
		Region:       cmp.Or(o.Getenv("AWS_REGION"), o.Getenv("AWS_DEFAULT_REGION"), "us-east-1"),
		BucketLookup: lookup,
	})
	if err != nil {
		return nil, &formats.Error{At: "s3://" + bucket, Err: err}
	}
	return &server{client, bucket, prefix, cmp.Or(o.Scratch, os.TempDir())}, nil
}

func (s *server) Name() string { return "s3://" + path.Join(s.bucket, s.prefix) }

// codeOf returns the server's code for an error, also for one that is joined to others, or "".
func codeOf(err error) string {
	var r minio.ErrorResponse
	errors.As(err, &r)
	return r.Code
}

// fail returns an error of the server, with the place in front of it.
func (s *server) fail(key string, err error) error {
	switch codeOf(err) {
	case "":
		if errors.Is(err, context.Canceled) {
			return context.Canceled
		}
		if u := (*url.Error)(nil); errors.As(err, &u) {
			err = u.Err
		}
	case minio.NoSuchKey:
		err = fs.ErrNotExist
	case minio.PreconditionFailed:
		err = ErrExists
	}
	return &formats.Error{At: "s3://" + path.Join(s.bucket, s.prefix+key), Err: err}
}

func (s *server) List(ctx context.Context) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		last := ""
		for o := range s.client.ListObjectsIter(ctx, s.bucket, minio.ListObjectsOptions{Prefix: s.prefix, Recursive: true}) {
			if o.Err != nil {
				yield(Object{}, s.fail("", o.Err))
				return
			}
			if o.Key <= last {
				yield(Object{}, s.fail("", fmt.Errorf("the server lists %q after %q, out of order", o.Key, last)))
				return
			}
			last = o.Key
			one := Object{Key: strings.TrimPrefix(o.Key, s.prefix), Size: o.Size, Tag: strings.Trim(o.ETag, `"`)}
			if strings.HasSuffix(one.Key, "/") && one.Size == 0 || one.Key == "" {
				continue // the marker of a folder
			}
			if one.Tag == "" {
				one.Bad = "no ETag"
			}
			if !yield(one, nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(Object{}, err)
		}
	}
}

func (s *server) Fetch(ctx context.Context, o Object, to string) error {
	var opts minio.GetObjectOptions
	if err := opts.SetMatchETag(o.Tag); err != nil {
		return err
	}
	var err error
	for range 3 { // a connection that breaks in the middle
		if err = s.fetch(ctx, o, to, opts); err == nil || codeOf(err) != "" || ctx.Err() != nil || errors.As(err, new(*fs.PathError)) || errors.Is(err, ErrChanged) {
			break
		}
	}
	switch code := codeOf(err); {
	case err == nil || errors.Is(err, ErrChanged):
		return err
	case code == minio.NoSuchKey:
		return ErrGone
	case code == minio.PreconditionFailed:
		return ErrChanged
	}
	return s.fail(o.Key, err)
}

func (s *server) fetch(ctx context.Context, o Object, to string, opts minio.GetObjectOptions) error {
	in, err := s.client.GetObject(ctx, s.bucket, s.prefix+o.Key, opts)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	n, err := write(ctx, to, io.LimitReader(in, o.Size+1))
	if err == nil && n != o.Size {
		err = ErrChanged
	}
	return err
}

func (s *server) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	in, err := s.client.GetObject(ctx, s.bucket, s.prefix+key, minio.GetObjectOptions{})
	if err == nil {
		if _, err = in.Stat(); err == nil {
			return in, nil
		}
		in.Close()
	}
	return nil, s.fail(key, err)
}

func (s *server) Sweep() { scratch.SweepBeside(s.scratch, stagePrefix, func(string, error) {}) }

func (s *server) Stage() (*Stage, error) {
	d, err := scratch.Make(s.scratch, stagePrefix)
	if err != nil {
		return nil, err
	}
	return &Stage{d.Path, func(ctx context.Context, prefix, last string) error { return s.commit(ctx, d.Path, prefix, last) }, d.Remove}, nil
}

// uploads is how many objects of a stage are sent at a time.
const uploads = 8

func (s *server) commit(ctx context.Context, dir, prefix, last string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wait sync.WaitGroup
	slots := make(chan struct{}, uploads)
	err := filepath.WalkDir(dir, func(at string, e fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(dir, at)
		if err = errors.Join(err, relErr); err != nil || e.IsDir() || rel == last {
			return err
		}
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			key := path.Join(prefix, filepath.ToSlash(rel))
			err := s.put(ctx, key, at)
			if errors.Is(err, ErrExists) {
				err = s.same(ctx, key, at)
			}
			if err != nil {
				cancel(err)
			}
		})
		return context.Cause(ctx)
	})
	wait.Wait()
	if err := errors.Join(err, context.Cause(ctx)); err != nil {
		return err
	}
	return s.put(ctx, path.Join(prefix, last), filepath.Join(dir, last))
}

// maxSingle is the size of the largest object that servers take in one request.
const maxSingle = 5 << 30

// put creates an object. It returns ErrExists if the object exists; a larger one than
// maxSingle, which is never the last one of a stage, it replaces.
func (s *server) put(ctx context.Context, key, file string) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	var opts minio.PutObjectOptions
	if info.Size() <= maxSingle {
		opts.DisableMultipart = true // one request, which the condition is for
		opts.SetMatchETagExcept("*")
	}
	for range 5 {
		_, err = s.client.PutObject(ctx, s.bucket, s.prefix+key, io.NewSectionReader(in, 0, info.Size()), info.Size(), opts)
		if codeOf(err) != "ConditionalRequestConflict" { // another run is creating it
			break
		}
	}
	if err != nil {
		return s.fail(key, err)
	}
	return nil
}

// same returns an error if an object is not equal to a file.
func (s *server) same(ctx context.Context, key, file string) error {
	there, err := s.Open(ctx, key)
	if err != nil {
		return err
	}
	defer there.Close()
	here, err := os.Open(file)
	if err != nil {
		return err
	}
	defer here.Close()
	a, b := make([]byte, 1<<20), make([]byte, 1<<20)
	for {
		n, errA := io.ReadFull(there, a)
		m, errB := io.ReadFull(here, b)
		switch end := errors.Is(errA, io.EOF) || errors.Is(errA, io.ErrUnexpectedEOF); {
		case errA != nil && !end:
			return s.fail(key, errA)
		case !bytes.Equal(a[:n], b[:m]):
			return &formats.Error{At: s.Name(), Err: fmt.Errorf("another run wrote other bytes to %q, and no receipt", key), Hint: "when no other run is at work, delete " + path.Dir(key) + " and run `rehome-fleet do` again"}
		case end:
			return nil
		case errB != nil && !errors.Is(errB, io.EOF) && !errors.Is(errB, io.ErrUnexpectedEOF):
			return errB
		}
	}
}
