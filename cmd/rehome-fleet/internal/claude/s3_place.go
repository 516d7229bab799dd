package claude

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"rehome/formats/loss"
)

func (s *s3) begin(context.Context) (target, error) { return &s3Target{s3: s}, nil }

// s3Target places session after session, each when its own transcript appears, after those of its
// subagents: the SDK looks for that one.
type s3Target struct {
	*s3
	backup string // prefix; empty before the first session is moved to it
}

func (t *s3Target) refuse(traits) string      { return "" }
func (t *s3Target) change(traits) []loss.Code { return nil }

// objects returns the parts of a session.
func (t *s3Target) objects(ctx context.Context, k key) (out []object, err error) {
	err = t.list(ctx, k.Project+"/"+k.Session+"/", func(parts []object) error {
		for _, o := range parts {
			if o.key.session() == k.session() {
				out = append(out, o)
			}
		}
		return nil
	}, func(loss.Code, string) {})
	return out, err
}

// suffix returns what distinguishes the part of a transcript.
func suffix(t *transcript) string { return fmt.Sprintf("%x", t.Sum[:3]) }

// partName returns the name of the part of a transcript. Entries that are appended later have to
// come after it, so that it is never of the future.
func partName(t *transcript) string {
	at := time.Now()
	if !t.Last.IsZero() && t.Last.Before(at) {
		at = t.Last
	}
	return fmt.Sprintf("part-%013d-%s.jsonl", at.UnixMilli(), suffix(t))
}

func (t *s3Target) has(ctx context.Context, session []*transcript) (bool, error) {
	for _, tr := range session {
		dir := strings.TrimPrefix(t.folder(tr.Key), t.prefix)
		if k, ok := objectKey(strings.TrimSuffix(dir, "/")); !ok || k != tr.Key || t.prefix == "" && backups.MatchString(dir) {
			return false, fmt.Errorf("%v: this layout would read its name as another one", tr.Key)
		}
	}
	found, err := t.objects(ctx, session[0].Key)
	if err != nil {
		return false, err
	}
	left := map[key]*transcript{} // what a killed placement can have left
	for _, tr := range session {
		if tr.Key.Subpath != "" {
			left[tr.Key] = tr
		}
	}
	var other []object // than put overwrites
	for _, o := range found {
		tr := left[o.key]
		if tr == nil || suffix(tr) != part.FindStringSubmatch(o.name)[2] {
			return true, nil
		}
		if o.name != partName(tr) {
			other = append(other, o)
		}
	}
	return false, t.remove(ctx, other)
}

func (t *s3Target) remove(ctx context.Context, list []object) error {
	for _, o := range list {
		if err := t.client.RemoveObject(ctx, t.bucket, o.Key, minio.RemoveObjectOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func (t *s3Target) read(ctx context.Context, k key, put func(key, []byte) error) error {
	found, err := t.objects(ctx, k)
	for i := 0; i < len(found) && err == nil; i++ {
		err = t.lines(ctx, found[i], put)
	}
	return err
}

func (t *s3Target) setAside(ctx context.Context, k key) error {
	for n := 1; t.backup == ""; n++ {
		name, free := fmt.Sprintf("%s_bak_%d/", strings.TrimSuffix(t.prefix, "/"), n), true
		for o := range t.client.ListObjectsIter(ctx, t.bucket, minio.ListObjectsOptions{Prefix: name, MaxKeys: 1}) {
			if o.Err != nil {
				return o.Err
			}
			free = false
			break
		}
		if free {
			t.backup = name
		}
	}
	found, err := t.objects(ctx, k)
	for i := 0; i < len(found) && err == nil; i++ {
		o := found[i]
		to := minio.CopyDestOptions{Bucket: t.bucket, Object: t.backup + strings.TrimPrefix(o.Key, t.prefix)}
		info := minio.UploadInfo{}
		info, err = t.client.ComposeObject(ctx, to, minio.CopySrcOptions{Bucket: t.bucket, Object: o.Key, MatchETag: o.ETag})
		if err == nil && info.Size != 0 && info.Size != o.Size {
			err = fmt.Errorf("%v: copied %d bytes of %d to the backup", o.key, info.Size, o.Size)
		}
	}
	if err != nil {
		return err
	}
	saved := &s3Target{s3: &s3{client: t.client, bucket: t.bucket, prefix: t.backup}}
	kept, err := saved.objects(ctx, k)
	if err != nil {
		return err
	}
	if !slices.EqualFunc(found, kept, func(a, b object) bool { return a.name == b.name && a.key == b.key && a.Size == b.Size }) {
		return fmt.Errorf("%v: the backup is not complete; nothing was replaced", k)
	}
	// The session's own transcript goes first, so that no client finds it without its subagents.
	slices.SortStableFunc(found, func(a, b object) int { return a.key.compare(b.key) })
	return t.remove(ctx, found)
}

func (t *s3Target) put(ctx context.Context, session []*transcript, entries func(*transcript, func(entry) error) error) error {
	for _, tr := range slices.Backward(session) { // the session's own transcript comes last
		r, w := io.Pipe()
		wrong := make(chan error, 1)
		go func() {
			err := entries(tr, func(e entry) error {
				_, err := w.Write(append(bytes.ReplaceAll(e.Line, []byte("\r"), []byte(" ")), '\n'))
				return err
			})
			w.CloseWithError(err)
			wrong <- err
		}()
		o := minio.PutObjectOptions{ContentType: "application/x-ndjson"}
		if tr.Key.Subpath == "" {
			o.SetMatchETagExcept("*")
		}
		_, err := t.client.PutObject(ctx, t.bucket, t.folder(tr.Key)+partName(tr), r, tr.Bytes, o)
		r.CloseWithError(errStopped)
		if cause := <-wrong; cause != nil && !errors.Is(cause, errStopped) {
			return cause
		}
		if minio.ToErrorResponse(err).Code == minio.PreconditionFailed {
			return errRaced()
		}
		if err != nil {
			return fmt.Errorf("%v: %w", tr.Key, err)
		}
	}
	return nil
}

func (t *s3Target) commit(context.Context) (string, error) {
	return t.kept(), nil
}

// kept returns the name of the backup, also after an error.
func (t *s3Target) kept() string {
	if t.backup == "" {
		return ""
	}
	return t.bucket + "/" + strings.TrimSuffix(t.backup, "/")
}

func (t *s3Target) close() {}
