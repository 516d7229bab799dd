package sqlitefile

import (
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"modernc.org/sqlite"

	"rehome/formats"
	"rehome/formats/internal/sqliteddl"
)

// What SQLite may take of a stranger's file. A heap limit is not among it: that
// is one for the whole process, so that one store could make the others fail.
const (
	limitLength = 0 // the categories of sqlite3_limit
	limitSQL    = 1
	limitOps    = 5
	limitAttach = 7
	limitLike   = 8
	limitNested = 10

	mostValue   = 256 << 20 // bytes of a value, and of a row
	mostOps     = 1 << 20   // instructions of one of our statements
	mostPattern = 1000      // bytes of a pattern in LIKE or GLOB
)

// readLimits are those of a connection that reads a file of so many bytes: no
// value is longer than the file it lies in, but for texts that are twice as long
// in another encoding.
func readLimits(bytes int64) map[int]int {
	return map[int]int{
		limitLength: int(min(2*bytes+1<<20, mostValue)), limitSQL: sqliteddl.MaxSQL,
		limitOps: mostOps, limitAttach: 0, limitLike: mostPattern, limitNested: 1,
	}
}

func limit(c *sql.Conn, limits map[int]int) error {
	for _, id := range slices.Sorted(maps.Keys(limits)) {
		if _, err := sqlite.Limit(c, id, limits[id]); err != nil {
			return err
		}
	}
	return nil
}

// budget bounds what scans of a file give. Pages that several rows or tables
// share let a small file stand for any amount; what is sound takes its own
// bytes in the file, once.
type budget struct {
	bytes int64            // of the file and its log
	of    map[string]int64 // spent by table, in the largest scan of each
	sum   int64
}

const (
	leastRow  = 4   // bytes that a row takes in a file at least
	freeOfRow = 256 // bytes of a row that need not be in the file: defaults of columns that were added later
	allowance = 1 << 20
)

// cost is what rows of so many bytes are charged.
func cost(rows, bytes int) int64 { return int64(max(leastRow*rows, bytes-freeOfRow*rows)) }

// grew says how much one scan of a table has given by now.
func (b *budget) grew(table string, given int64) error {
	if more := given - b.of[table]; more > 0 {
		if b.of == nil {
			b.of = map[string]int64{}
		}
		b.of[table] = given
		b.sum += more
	}
	if b.sum > 2*b.bytes+allowance {
		return &formats.Error{Err: fmt.Errorf("%w: its rows have more bytes than the file", errPages),
			Hint: "run `sqlite3 FILE .recover` to save what is readable, or restore a backup"}
	}
	return nil
}

var errPages = errors.New("malformed pages")
