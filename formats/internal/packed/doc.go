// Package packed is the only door to the compression library.
//
// A packed stream is a row of independent frames (gzip calls them members),
// each made of exactly FrameSize bytes of input, the last of what is left. So
// frames can be made by any number of workers and the bytes never depend on
// how many there were, nor on the sizes in which the input came. Nothing in
// the stream tells of a clock, a machine or a file name.
//
// # Bombs
//
// A few kilobytes can stand for gigabytes. The reader's rule: once a stream
// has given more than 64 MiB, it must not have given more than 1040 bytes for
// each byte it was made of. Deflate cannot reach that ratio (1032 at most), so
// a gzip stream of N bytes costs its reader at most 1032 N whatever it holds;
// a zstd frame can, up to 32768. The writer stays within the rule: a zstd
// frame smaller than a 512th of its input is followed by a skippable frame
// that fills it up, which every zstd decoder passes over.
//
// Memory is bounded apart from that: a zstd window is at most 8 MiB.
package packed

import "fmt"

// FrameSize is the input of each frame but the last.
const FrameSize = 4 << 20

// Kind is a kind of compression.
type Kind uint8

// The kinds.
const (
	None Kind = iota
	Gzip
	Zstd
)

func (k Kind) String() string { return [...]string{"none", "gzip", "zstd"}[k] }

// Ext returns the extension of compressed files, "" for None.
func (k Kind) Ext() string { return [...]string{"", ".gz", ".zst"}[k] }

// ParseKind parses the name of a kind; "" is None.
func ParseKind(s string) (Kind, error) {
	for _, k := range []Kind{None, Gzip, Zstd} {
		if s == k.String() || s == "" {
			return k, nil
		}
	}
	return None, fmt.Errorf("unknown compression %q; use none, gzip or zstd", s)
}
