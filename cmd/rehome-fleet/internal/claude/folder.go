package claude

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"rehome/formats"
	"rehome/formats/loss"
)

// folder writes transcripts as a config folder of Claude Code.
type folder struct {
	name  string // of the store, for messages
	root  *os.Root
	note  func(code loss.Code, place string)
	key   key
	file  *os.File
	buf   *bufio.Writer
	meta  []byte // the last description of the subagent
	n     int64  // entries of the transcript
	files int
	made  map[string]bool // folders
}

// newFolder makes the folder at, which does not exist.
func newFolder(at, name string, note func(code loss.Code, place string)) (*folder, error) {
	err := os.Mkdir(at, 0o700)
	if err == nil {
		err = os.Mkdir(filepath.Join(at, "projects"), 0o700)
	}
	if err != nil {
		return nil, &formats.Error{At: at, Err: formats.Cause(err)}
	}
	root, err := os.OpenRoot(filepath.Join(at, "projects"))
	if err != nil {
		return nil, &formats.Error{At: at, Err: formats.Cause(err)}
	}
	return &folder{name: name, root: root, note: note, buf: bufio.NewWriterSize(nil, 1<<16), made: map[string]bool{".": true}}, nil
}

// put adds an entry. Those of a transcript come one after another.
func (f *folder) put(k key, line []byte, compact bool) error {
	if k != f.key || f.n == 0 {
		if err := f.finish(); err != nil {
			return err
		}
		f.key, f.n = k, 0
	}
	e, ok := outline(line)
	if !ok || len(line) > maxLine {
		f.note(loss.EntryUnusable, k.String())
		return nil
	}
	if !compact || bytes.IndexByte(e.Line, '\n') >= 0 {
		var out bytes.Buffer
		if err := json.Compact(&out, e.Line); err != nil {
			return f.fail(err)
		}
		e, _ = outline(out.Bytes())
	}
	f.n++
	if b, ok := e.asMeta(); ok && k.Subpath != "" {
		if f.meta != nil && !bytes.Equal(f.meta, b) {
			f.note(loss.DescriptionOld, k.String())
		}
		f.meta = b
		return nil
	}
	if f.file == nil {
		file, err := f.create(ending)
		if err != nil {
			return err
		}
		f.file = file
		f.buf.Reset(file)
	}
	if !compact {
		e.Line = e.typeFirst()
	}
	f.buf.Write(e.Line)
	if err := f.buf.WriteByte('\n'); err != nil {
		return f.fail(err)
	}
	return nil
}

// create makes the file of the transcript with an extension.
func (f *folder) create(extension string) (*os.File, error) {
	p, err := f.key.path()
	if err != nil {
		return nil, f.fail(err)
	}
	if err := f.mkdir(path.Dir(p)); err != nil {
		return nil, f.fail(err)
	}
	file, err := f.root.OpenFile(filepath.FromSlash(p)+extension, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		err = errors.New("its file exists: two names differ only in case, or entries are not in order")
	}
	if err != nil {
		return nil, f.fail(err)
	}
	f.files++
	return file, nil
}

// mkdir makes a folder and its parents. One that is there and was not made here belongs to a name
// that differs in case only: where the file system takes both for one, sessions would change places.
func (f *folder) mkdir(p string) error {
	if f.made[p] {
		return nil
	}
	if err := f.mkdir(path.Dir(p)); err != nil {
		return err
	}
	f.made[p] = true
	err := f.root.Mkdir(filepath.FromSlash(p), 0o700)
	if errors.Is(err, os.ErrExist) {
		err = errors.New("its folder exists: two names differ only in case")
	}
	return err
}

// finish completes the files of the transcript.
func (f *folder) finish() error {
	err := error(nil)
	if f.file != nil {
		err = errors.Join(f.buf.Flush(), f.file.Close())
	}
	f.file = nil
	if f.meta != nil && err == nil {
		var file *os.File
		if file, err = f.create(meta); err != nil {
			return err
		}
		_, err = file.Write(f.meta)
		err = errors.Join(err, file.Close())
	}
	f.meta = nil
	if err != nil {
		return f.fail(err)
	}
	return nil
}

// close completes the folder.
func (f *folder) close() error { return errors.Join(f.finish(), f.root.Close()) }

func (f *folder) fail(err error) error {
	return &formats.Error{At: f.name, Err: fmt.Errorf("%v: %w", f.key, formats.Cause(err)), Hint: "name one project in the address to leave others out: ?project=KEY"}
}
