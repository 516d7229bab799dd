package sdkwrite

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
)

// bufferSize is how much of each file of a draft waits to be written.
const bufferSize = 256 << 10

// out is a file of a draft. As in the client, only the user may read it, and it is
// created with its first line.
type out struct {
	path string
	file *os.File
	w    *bufio.Writer
	size int64
	err  error // the first one
}

// line writes a line. close returns its error.
func (o *out) line(b []byte) {
	if o.file == nil && o.err == nil {
		o.open()
	}
	if o.err != nil {
		return
	}
	o.w.Write(b)
	o.err = o.w.WriteByte('\n')
	o.size += int64(len(b)) + 1
}

func (o *out) open() {
	if o.err = os.MkdirAll(filepath.Dir(o.path), 0o700); o.err != nil {
		return
	}
	if o.file, o.err = os.OpenFile(o.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); o.err == nil {
		o.w = bufio.NewWriterSize(o.file, bufferSize)
	}
}

// truncate takes back what was written beyond a size.
func (o *out) truncate(size int64) error {
	if o.file == nil || o.err != nil {
		return o.err
	}
	if o.err = o.w.Flush(); o.err == nil {
		o.err = o.file.Truncate(size)
	}
	if o.err == nil {
		_, o.err = o.file.Seek(size, io.SeekStart)
	}
	o.size = size
	return o.err
}

func (o *out) close() error {
	if o.file == nil {
		return o.err
	}
	if err := o.w.Flush(); o.err == nil {
		o.err = err
	}
	if err := o.file.Close(); o.err == nil {
		o.err = err
	}
	o.file = nil
	return o.err
}
