package sqlitefile

import (
	"fmt"
	"strings"

	"rehome/formats"
)

// room refuses a copy that would not fit, or not within the limit.
func room(path, scratch string, st state, most int64) error {
	need, hint := st.bytes(), "stop its client so that no copy is needed, or set TMPDIR to a larger disk"
	if st.rollback {
		hint = "open it once with the program that wrote it to roll back the transaction, or set TMPDIR to a larger disk"
	}
	if need > most {
		hint, _, _ = strings.Cut(hint, ", or set TMPDIR") // the limit is not the disk's
	}
	if st.inPlace() {
		hint = "read it in place with --live, or " + hint
	}
	if need > most {
		return &formats.Error{At: path, Err: fmt.Errorf("%w: reading it requires a copy of %s, more than the limit of %s", formats.ErrBusy, size(need), size(most)), Hint: hint}
	}
	free, err := freeSpace(scratch)
	if err != nil {
		return &formats.Error{At: scratch, Err: err, Hint: "create this folder, or set TMPDIR to another one"}
	}
	if need > free {
		return &formats.Error{At: path, Err: fmt.Errorf("%w: reading it requires a copy of %s, which does not fit in %s (%s free)", formats.ErrBusy, size(need), scratch, size(free)), Hint: hint}
	}
	return nil
}

// size is a number of bytes for people.
func size(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprintf("%d bytes", n)
	case n < 10_000_000:
		return fmt.Sprintf("%d KB", n/1000)
	case n < 10_000_000_000:
		return fmt.Sprintf("%d MB", n/1_000_000)
	}
	return fmt.Sprintf("%d GB", n/1_000_000_000)
}
