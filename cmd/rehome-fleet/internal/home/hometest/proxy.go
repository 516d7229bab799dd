package hometest

import (
	"bytes"
	"net"
	"sync/atomic"
	"testing"
)

// Proxy forwards connections. Where a text passes first, it calls at, which says whether that
// connection ends, and whether the text arrives.
func Proxy(t *testing.T, to, text string, at func() (cut, arrives bool)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	var done atomic.Bool
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close()
				return
			}
			var cut atomic.Bool
			go func() {
				defer in.Close()
				b := make([]byte, 64<<10)
				for {
					n, err := out.Read(b)
					if err != nil || cut.Load() {
						return
					}
					_, _ = in.Write(b[:n])
				}
			}()
			go func() {
				defer out.Close()
				b := make([]byte, 64<<10)
				for {
					n, err := in.Read(b)
					if err != nil {
						return
					}
					if bytes.Contains(b[:n], []byte(text)) && !done.Swap(true) {
						ends, arrives := at()
						if cut.Store(ends); !arrives {
							return
						}
					}
					_, _ = out.Write(b[:n])
				}
			}()
		}
	}()
	return l.Addr().String()
}
