package packed

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// framer makes whole frames, one after the other, all by themselves.
type framer interface {
	frame(in []byte) ([]byte, error)
}

func newFramer(k Kind) (framer, error) {
	if k == Gzip {
		return new(gzipFramer), nil
	}
	// One goroutine each: the workers are ours. Empty input still is a frame,
	// so that an empty stream is recognized. The window is fixed, or it would
	// grow with the library's level.
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true), zstd.WithWindowSize(FrameSize),
		zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderCRC(true))
	return zstdFramer{e}, err
}

type gzipFramer struct{ w *gzip.Writer }

func (g *gzipFramer) frame(in []byte) ([]byte, error) {
	var out bytes.Buffer
	if g.w == nil {
		g.w = gzip.NewWriter(&out) // header: no name, system "unknown"
	} else {
		g.w.Reset(&out)
	}
	g.w.ModTime = time.Unix(0, 0) // "no time"; the library spells a zero Time otherwise
	if _, err := g.w.Write(in); err != nil {
		return nil, err
	}
	err := g.w.Close()
	return out.Bytes(), err
}

type zstdFramer struct{ e *zstd.Encoder }

// leastRatio is half of what the reader allows: see Bombs.
const leastRatio = 512

// skippable begins a frame that decoders pass over: magic, then its length.
var skippable = [4]byte{0x50, 0x2a, 0x4d, 0x18}

func (z zstdFramer) frame(in []byte) ([]byte, error) {
	out := z.e.EncodeAll(in, nil)
	if missing := len(in)/leastRatio - len(out); missing > 0 {
		out = append(out, skippable[:]...)
		out = binary.LittleEndian.AppendUint32(out, uint32(missing))
		out = append(out, make([]byte, missing)...)
	}
	return out, nil
}
