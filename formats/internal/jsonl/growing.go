package jsonl

import (
	"io/fs"
	"os"
	"time"
)

// appendPause is how long a client can take between the writes of one line. Only files
// that were changed this recently are waited for.
const appendPause = 20 * time.Millisecond

// MaxTries is how often a file is read that ends in the middle of a line and grows.
const MaxTries = 5

// Grows reports whether a file is longer than info says. If it was changed just now, it
// waits for its client to finish the last line.
func Grows(f *os.File, info fs.FileInfo) bool {
	for {
		age := time.Since(info.ModTime()) // before the size is asked for: between the two may be a pause
		now, err := f.Stat()
		if err != nil || now.Size() != info.Size() {
			return err == nil && now.Size() > info.Size()
		}
		if age < 0 || age > appendPause {
			return false
		}
		time.Sleep(time.Millisecond)
	}
}
