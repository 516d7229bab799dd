package check

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/convert/internal/ignore"
	"rehome/convert/internal/notify"
	"rehome/formats"
	"rehome/formats/rule"
	"rehome/formats/store"
	"rehome/schemas"
)

// ruleShape is the rule about records that do not match their schema.
const ruleShape = "RH203"

// maxDocument bounds a line or document that is validated.
const maxDocument = 64 << 20

// Schema validates files against a schema: every line, or a *.json file as
// a whole. The schema is a file, or the name of one that rehome publishes. In a
// folder, it reads every *.json, *.jsonl and *.ndjson file.
func Schema(ctx context.Context, o Options, schema string) (*Report, error) {
	validate, err := loadSchema(schema)
	if err != nil {
		return nil, err
	}
	o.Layers, o.Rules = rule.Schema, []string{ruleShape}
	c := &checker{o: o, talk: &notify.Notifier{OnProgress: o.OnProgress}}
	for _, path := range o.Paths {
		tree, err := c.tree(ctx, path)
		if err != nil {
			return nil, err
		}
		for file, err := range textFiles(path, tree) {
			one := &storeCheck{store: Store{Path: file, Err: err}}
			one.findings.known = o.Baseline.known(file)
			c.found = append(c.found, one)
			if err == nil {
				one.store.Format = "text"
				one.store.Bytes, one.store.Err = one.checkFile(ctx, validate)
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
	}
	return c.report(), nil
}

// loadSchema returns the validator of a schema. A file wins over a name.
func loadSchema(name string) (rule.Validator, error) {
	refuse := func(err error, hint string) error {
		return &formats.Error{Op: "schema", At: name, Err: err, Hint: hint}
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && slices.Contains(schemas.Names(), name):
		return causesOf(func(doc []byte) error { return schemas.Validate(name, doc) }), nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, refuse(formats.Cause(err), "pass a file, or a schema listed by `rehome schema`")
	case err != nil:
		return nil, refuse(formats.Cause(err), "")
	case !info.Mode().IsRegular() || info.Size() > maxDocument:
		return nil, refuse(errors.New("not a regular file, or too large"), "")
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, refuse(formats.Cause(err), "")
	}
	f, err := schemas.Read(text)
	if err != nil {
		return nil, refuse(err, "references must stay within the schema: rehome fetches nothing")
	}
	return causesOf(f.Validate), nil
}

// textFiles yields a file, or the files of a folder that hold JSON according to
// their names.
func textFiles(path string, tree *ignore.Tree) func(yield func(string, error) bool) {
	return func(yield func(string, error) bool) {
		info, err := os.Stat(path)
		if err != nil {
			yield(path, &formats.Error{At: path, Err: formats.Cause(err)})
			return
		}
		if !info.IsDir() {
			if !info.Mode().IsRegular() {
				err = &formats.Error{At: path, Err: errors.New("not a regular file")}
			}
			yield(path, err)
			return
		}
		filepath.WalkDir(path, func(at string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				if !yield(at, &formats.Error{At: at, Err: formats.Cause(err)}) {
					return fs.SkipAll
				}
			case e.IsDir() && e.Name() == ".git":
				return fs.SkipDir
			case tree.Skip(relPath(path, at), e.IsDir()):
				if e.IsDir() {
					return fs.SkipDir
				}
			case e.Type().IsRegular() && slices.Contains([]string{".json", ".jsonl", ".ndjson"}, strings.ToLower(filepath.Ext(at))):
				if !yield(at, nil) {
					return fs.SkipAll
				}
			}
			return nil
		})
	}
}

// checkFile validates a file, and returns its size.
func (e *storeCheck) checkFile(ctx context.Context, v rule.Validator) (n int64, err error) {
	f, err := os.Open(e.store.Path)
	if err != nil {
		return 0, &formats.Error{At: e.store.Path, Err: formats.Cause(err)}
	}
	defer f.Close()
	judge := func(line int, doc []byte) {
		e.reportCauses(line, v(doc)...)
	}
	if strings.EqualFold(filepath.Ext(e.store.Path), ".json") {
		doc, err := io.ReadAll(io.LimitReader(f, maxDocument+1))
		switch {
		case err != nil:
			return 0, &formats.Error{At: e.store.Path, Err: formats.Cause(err)}
		case len(doc) > maxDocument:
			e.reportCauses(1, tooLong())
		default:
			judge(1, doc)
		}
		return int64(len(doc)), nil
	}
	r := bufio.NewReaderSize(f, 1<<16)
	for line := 1; ; line++ {
		doc, size, err := readLine(r)
		n += size
		switch {
		case ctx.Err() != nil:
			return n, ctx.Err()
		case err != nil && !errors.Is(err, io.EOF):
			return n, &formats.Error{At: e.store.Path, Err: formats.Cause(err)}
		case size > maxDocument:
			e.reportCauses(line, tooLong())
		case len(bytes.TrimSpace(doc)) > 0:
			judge(line, doc)
		}
		if errors.Is(err, io.EOF) {
			return n, nil
		}
	}
}

// tooLong returns why a document is not checked.
func tooLong() rule.Cause {
	return rule.Cause{Message: "longer than %d bytes", Args: []any{maxDocument}}
}

// reportCauses reports each cause of a validation error, at its place in the
// record.
func (e *storeCheck) reportCauses(line int, causes ...rule.Cause) {
	for _, c := range causes {
		e.report(rule.Finding{Rule: ruleShape, At: store.Addr{Line: line}, Pointer: c.Pointer, Message: c.Message, Args: c.Args})
	}
}

// readLine reads a line and returns its size. It keeps only the beginning of
// one that is too long.
func readLine(r *bufio.Reader) (line []byte, size int64, err error) {
	for {
		part, err := r.ReadSlice('\n')
		size += int64(len(part))
		if size <= maxDocument {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, size, err
		}
	}
}
