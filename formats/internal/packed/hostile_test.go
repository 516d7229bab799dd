package packed

import (
	"bytes"
	stdgzip "compress/gzip"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// zeros gives n bytes without holding them.
func zeros(n int64) io.Reader { return io.LimitReader(zero{}, n) }

type zero struct{}

func (zero) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// What the writer makes of the emptiest input, the reader must take.
func TestZerosComeBack(t *testing.T) {
	const n = 200 << 20
	for _, k := range []Kind{Gzip, Zstd} {
		var out bytes.Buffer
		w := NewWriter(&out, k, 2)
		if _, err := io.Copy(w, zeros(n)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := NewReader(bytes.NewReader(out.Bytes()), 2)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.Copy(io.Discard, r)
		if err != nil || got != n {
			t.Errorf("%v: %d of %d bytes from %d, %v", k, got, n, out.Len(), err)
		}
		r.Close()
	}
}

func TestBomb(t *testing.T) {
	var bomb bytes.Buffer
	e, err := zstd.NewWriter(&bomb, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(e, zeros(256<<20)); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for jobs := 1; jobs <= 2; jobs++ {
		r, err := NewReader(bytes.NewReader(bomb.Bytes()), jobs)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, r)
		if !errors.Is(err, ErrBomb) || n > bombFloor+1<<20 {
			t.Errorf("%d bytes gave %d, then %v", bomb.Len(), n, err)
		}
		if _, again := r.Read(make([]byte, 10)); !errors.Is(again, ErrBomb) {
			t.Errorf("reading on gives %v", again)
		}
		r.Close()
	}
}

func TestTruncated(t *testing.T) {
	in := text(700)
	for _, k := range []Kind{Gzip, Zstd} {
		one := pack(t, k, 1, len(in), in)
		for cut := 4; cut < len(one); cut++ {
			for jobs := 1; jobs <= 2; jobs++ {
				if _, err := unpack(one[:cut], jobs); err == nil {
					t.Fatalf("%v cut at %d of %d is taken for whole", k, cut, len(one))
				}
			}
			if _, err := unpack(append(bytes.Clone(one), one[:cut]...), 1); err == nil {
				t.Fatalf("%v: a second frame cut at %d is taken for whole", k, cut)
			}
		}
		for cut := 1; cut < 4; cut++ {
			if _, err := unpack(append(bytes.Clone(one), one[:cut]...), 1); err == nil {
				t.Fatalf("%v: %d stray bytes are passed over", k, cut)
			}
		}
	}
}

func TestDamage(t *testing.T) {
	in := text(700)
	for _, k := range []Kind{Gzip, Zstd} {
		one := pack(t, k, 1, len(in), in)
		for at := 4; at < len(one); at++ {
			b := bytes.Clone(one)
			b[at] ^= 0x10
			back, err := unpack(b, 1)
			if err == nil && !bytes.Equal(back, in) {
				t.Fatalf("%v: a flipped bit at %d changes the text unnoticed", k, at)
			}
		}
		for _, tail := range []string{"\x00", "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", "garbage", "\n", "{}", "\x1f\x8b", "\x28\xb5\x2f\xfd"} {
			if _, err := unpack(append(bytes.Clone(one), tail...), 1); err == nil {
				t.Errorf("%v: %q behind the end is passed over", k, tail)
			}
		}
	}
}

// Streams of other programs.
func TestForeignStreams(t *testing.T) {
	in := text(100000)
	var g bytes.Buffer
	w := stdgzip.NewWriter(&g)
	w.Name, w.Comment, w.Extra = "some.ndjson", "a comment", []byte("extra")
	w.Write(in[:60000])
	w.Close()
	w.Reset(&g)
	w.Write(in[60000:])
	w.Close()
	e, err := zstd.NewWriter(nil, zstd.WithWindowSize(maxWindow), zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		t.Fatal(err)
	}
	z := append([]byte{0x5f, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'a', 'b', 'c'}, e.EncodeAll(in[:60000], nil)...)
	z = e.EncodeAll(in[60000:], z)
	for _, b := range [][]byte{g.Bytes(), z} {
		if back, err := unpack(b, 2); err != nil || !bytes.Equal(back, in) {
			t.Errorf("%d bytes come back, %v", len(back), err)
		}
	}
}

// A frame cannot make the reader reserve memory that its bytes do not earn.
func TestGreedyFrames(t *testing.T) {
	e, err := zstd.NewWriter(nil, zstd.WithWindowSize(64<<20))
	if err != nil {
		t.Fatal(err)
	}
	var wide bytes.Buffer
	e.Reset(&wide)
	io.Copy(e, zeros(40<<20))
	e.Close()
	huge := []byte{0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 8, 0, 0, 0, 3, 0, 0} // one segment of 32 GiB
	for name, b := range map[string][]byte{"window": wide.Bytes(), "segment": huge} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := unpack(b, 1)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.HasPrefix(err.Error(), "zstd: ") {
			t.Errorf("%s: %v", name, err)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 48<<20 {
			t.Errorf("%s: %d MiB were reserved", name, grown>>20)
		}
	}
}

// Empty members cost a loop, not the stack.
func TestManyEmptyFrames(t *testing.T) {
	for _, k := range []Kind{Gzip, Zstd} {
		empty := pack(t, k, 1, 1, nil)
		if len(empty) == 0 {
			t.Fatalf("%v: an empty stream cannot be recognized", k)
		}
		if back, err := unpack(bytes.Repeat(empty, 100000), 1); err != nil || len(back) != 0 {
			t.Errorf("%v: %d bytes, %v", k, len(back), err)
		}
	}
}

func TestNoGoroutineStays(t *testing.T) {
	before := runtime.NumGoroutine()
	in := text(3*FrameSize + 5)
	for _, k := range []Kind{Gzip, Zstd} {
		packed := pack(t, k, 4, len(in), in)
		for jobs := 1; jobs <= 4; jobs++ {
			r, err := NewReader(bytes.NewReader(packed), jobs)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(r, make([]byte, 1000)); err != nil {
				t.Fatal(err)
			}
			r.Close()
			if _, err := r.Read(make([]byte, 10)); err == nil {
				t.Error("a closed reader goes on")
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			unpack(packed[:len(packed)/2], jobs)
		}
		w := NewWriter(&full{room: 1}, k, 4)
		w.Write(in) // and dropped without Close
	}
	for wait := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(wait) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

func FuzzReader(f *testing.F) {
	in := text(300)
	for _, k := range []Kind{Gzip, Zstd} {
		f.Add(pack(f, k, 1, 300, in))
		f.Add(pack(f, k, 1, 300, make([]byte, 3000)))
	}
	f.Add([]byte("plain"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := NewReader(bytes.NewReader(b), 1)
		if err != nil {
			return
		}
		defer r.Close()
		n, err := io.Copy(io.Discard, io.LimitReader(r, 1<<30))
		if err == nil && n > bombFloor+bombRatio*int64(len(b)+1) {
			t.Errorf("%d bytes gave %d", len(b), n)
		}
	})
}
