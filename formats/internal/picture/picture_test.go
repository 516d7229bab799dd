package picture

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color/palette"
	"image/gif"
	"image/jpeg"
	"image/png"
	"slices"
	"testing"

	"rehome/formats/formatstest"
)

// pictures are whole ones, of each kind that the API takes.
func pictures(t *testing.T) map[string][]byte {
	t.Helper()
	grey := image.NewGray(image.Rect(0, 0, 40, 30))
	for i := range grey.Pix {
		grey.Pix[i] = byte(i * 7)
	}
	var asPNG, asJPEG, asGIF bytes.Buffer
	frame := func() *image.Paletted { return image.NewPaletted(grey.Rect, palette.Plan9) }
	for _, err := range []error{png.Encode(&asPNG, grey), jpeg.Encode(&asJPEG, grey, nil), gif.EncodeAll(&asGIF, &gif.GIF{Image: []*image.Paletted{frame(), frame()}, Delay: []int{1, 1}})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	webp := append([]byte("RIFF\x00\x00\x00\x00WEBPVP8L"), make([]byte, 20)...)
	binary.LittleEndian.PutUint32(webp[4:], uint32(len(webp)-8))
	return map[string][]byte{"image/png": asPNG.Bytes(), "image/jpeg": asJPEG.Bytes(), "image/gif": asGIF.Bytes(), "image/webp": webp}
}

// TestBrokenPictures: a picture that breaks off anywhere, or is damaged where a
// reader would see it, is none: the API refuses it, and the session with it.
func TestBrokenPictures(t *testing.T) {
	for kind, whole := range pictures(t) {
		if got := Kind(whole); got != kind {
			t.Errorf("a whole %s is %q", kind, got)
		}
		if got := Kind(append(slices.Clone(whole), "\n"...)); got != kind {
			t.Errorf("%s with a line end behind it is %q", kind, got)
		}
		for cut := range len(whole) {
			if got := Kind(whole[:cut]); got != "" {
				t.Errorf("%s cut to %d of %d bytes is %q", kind, cut, len(whole), got)
				break
			}
		}
	}
	damaged := slices.Clone(pictures(t)["image/png"])
	damaged[len(damaged)/2] ^= 0x10
	if got := Kind(damaged); got != "" {
		t.Errorf("a damaged picture is %q", got)
	}
}

// TestLargePictures: what a header promises is not made room for.
func TestLargePictures(t *testing.T) {
	head := slices.Clone(pictures(t)["image/png"])
	binary.BigEndian.PutUint32(head[16:], 8000)
	binary.BigEndian.PutUint32(head[20:], 8000)
	binary.BigEndian.PutUint32(head[29:], crc32.ChecksumIEEE(head[12:29]))
	kind := ""
	cost := formatstest.Measure(func(context.Context) { kind = Kind(head) })
	if kind != "image/png" || cost.Bytes > 1<<20 {
		t.Errorf("%q, for %+v", kind, cost)
	}
}
