package tables

import (
	"encoding/binary"
	"io"
	"os"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// dropPageIndex removes the page index of a file, which is before the footer. For columns
// without bounds, the library writes one in which each page has the bounds "" and "":
// readers that use it skip pages that hold what they look for. The library's own reader
// needs the index of all columns, or of none.
func dropPageIndex(f *os.File) error {
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	var tail [8]byte
	if _, err := f.ReadAt(tail[:], end-8); err != nil {
		return err
	}
	start := end - 8 - int64(binary.LittleEndian.Uint32(tail[:4]))
	footer := make([]byte, end-8-start)
	if _, err := f.ReadAt(footer, start); err != nil {
		return err
	}
	meta, protocol := new(format.FileMetaData), new(thrift.CompactProtocol)
	if err := thrift.Unmarshal(protocol, footer, meta); err != nil {
		return err
	}
	for i := range meta.RowGroups {
		for k := range meta.RowGroups[i].Columns {
			c := &meta.RowGroups[i].Columns[k]
			start = min(start, c.ColumnIndexOffset, c.OffsetIndexOffset)
			c.ColumnIndexOffset, c.ColumnIndexLength, c.OffsetIndexOffset, c.OffsetIndexLength = 0, 0, 0, 0
		}
	}
	if footer, err = thrift.Marshal(protocol, meta); err != nil {
		return err
	}
	binary.LittleEndian.PutUint32(tail[:4], uint32(len(footer)))
	if err := f.Truncate(start); err != nil {
		return err
	}
	_, err = f.WriteAt(append(footer, tail[:]...), start)
	return err
}
