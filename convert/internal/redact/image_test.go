package redact

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
	"testing"
)

// TestImages plants a secret in the metadata of images. They are still images, with the
// same pixels and their other metadata.
func TestImages(t *testing.T) {
	secret := token()
	drawing := image.NewPaletted(image.Rect(0, 0, 9, 9), color.Palette{color.Black, color.White})
	drawing.SetColorIndex(3, 4, 1)
	encoded := func(encode func(b *bytes.Buffer) error) []byte {
		var b bytes.Buffer
		if err := encode(&b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	asPNG := encoded(func(b *bytes.Buffer) error { return png.Encode(b, drawing) })
	asJPEG := encoded(func(b *bytes.Buffer) error { return jpeg.Encode(b, drawing, nil) })
	asGIF := encoded(func(b *bytes.Buffer) error { return gif.Encode(b, drawing, nil) })
	zipped := encoded(func(b *bytes.Buffer) error {
		z := zlib.NewWriter(b)
		z.Write([]byte("say " + secret))
		return z.Close()
	})
	chunk := func(kind, data string) string {
		b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
		b = append(b, kind+data...)
		return string(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE([]byte(kind+data))))
	}
	insert := func(b []byte, at int, text string) []byte { return slices.Insert(slices.Clone(b), at, []byte(text)...) }
	segment := func(kind byte, data string) string {
		return string([]byte{0xFF, kind, byte((len(data) + 2) >> 8), byte(len(data) + 2)}) + data
	}
	riff := func(chunks ...string) []byte {
		body := "WEBP" + strings.Join(chunks, "")
		return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
	}
	part := func(kind, data string) string {
		return string(binary.LittleEndian.AppendUint32([]byte(kind), uint32(len(data)))) + data + strings.Repeat("\x00", len(data)%2)
	}
	const pngHead, kept = 33, "an honest comment"
	cases := map[string][]byte{
		"PNG text":       insert(asPNG, pngHead, chunk("tEXt", "Comment\x00"+secret)+chunk("tEXt", "Title\x00"+kept)),
		"PNG zipped":     insert(asPNG, pngHead, chunk("zTXt", "Comment\x00\x00"+string(zipped))),
		"PNG XMP":        insert(asPNG, pngHead, chunk("iTXt", "XML:com.adobe.xmp\x00\x00\x00\x00\x00<x>"+secret+"</x>")),
		"PNG EXIF":       insert(asPNG, pngHead, chunk("eXIf", "MM\x00*"+secret)),
		"PNG tail":       append(slices.Clone(asPNG), secret...),
		"JPEG comment":   insert(asJPEG, 2, segment(0xFE, "say "+secret)+segment(0xFE, kept)),
		"JPEG EXIF":      insert(asJPEG, 2, segment(0xE1, "Exif\x00\x00MM\x00*"+secret)),
		"JPEG tail":      append(slices.Clone(asJPEG), secret...),
		"GIF comment":    insert(asGIF, 13+6, "\x21\xFE"+string([]byte{byte(len(secret))})+secret+"\x00"),
		"GIF in pieces":  insert(asGIF, 13+6, "\x21\xFE\x0A"+secret[:10]+string([]byte{byte(len(secret) - 10)})+secret[10:]+"\x00"),
		"GIF tail":       append(slices.Clone(asGIF), secret...),
		"WebP EXIF, XMP": riff(part("VP8X", "\x0C\x00\x00\x00\x08\x00\x00\x08\x00\x00"), part("VP8 ", "pixels"), part("EXIF", secret), part("XMP ", kept)),
	}
	for name, b := range cases {
		r := redactor(t, Policy{}, string(b)) // found in the image itself
		out, changed, err := r.Value(t.Context(), nil, b, Unknown, nil)
		if err != nil || !changed || survives(out, secret) != "" || len(out) >= len(b) {
			t.Errorf("%s: changed %t, error %v", name, changed, err)
			continue
		}
		if strings.Contains(string(b), kept) && !strings.Contains(string(out), kept) {
			t.Errorf("%s: other metadata is gone", name)
		}
		if name[:4] == "WebP" {
			if int(binary.LittleEndian.Uint32(out[4:])) != len(out)-8 || out[20] != 4 {
				t.Errorf("%s: %q", name, out)
			}
			continue
		}
		was, _, err1 := image.Decode(bytes.NewReader(b))
		is, _, err2 := image.Decode(bytes.NewReader(out))
		if err1 != nil || err2 != nil || was.Bounds() != is.Bounds() || was.At(3, 4) != is.At(3, 4) || was.At(0, 0) != is.At(0, 0) {
			t.Errorf("%s: %v, %v: another picture", name, err1, err2)
		}
	}
	// Damaged images are cut at any place.
	r := redactor(t, Policy{}, secret)
	for name, b := range cases {
		for i := range b {
			out, _, err := r.Value(t.Context(), nil, b[:i], Unknown, nil)
			if err == nil && survives(out, secret) != "" {
				t.Fatalf("%s cut at %d: the secret survives", name, i)
			}
		}
	}
}

// TestRefused: what holds a value and cannot be edited is an error that does not contain it.
func TestRefused(t *testing.T) {
	secret := token()
	r := redactor(t, Policy{Words: []string{"4111111111111111"}}, secret)
	random := strings.Repeat("\x00\xFF\x81\xFE\x02", 20)
	for name, text := range map[string]string{
		"binary": random + secret + random,
		"pixels": "\x89PNG\r\n\x1a\n" + "\x00\x00\x00\x30IDAT" + secret + strings.Repeat("x", 12),
		"number": `{"card":4111111111111111}`,
	} {
		out, changed, err := r.Value(t.Context(), nil, []byte(text), Unknown, nil)
		if err == nil || changed || string(out) != text {
			t.Errorf("%s: changed %t, error %v", name, changed, err)
			continue
		}
		if strings.Contains(err.Error(), secret[:8]) || strings.Contains(err.Error(), "4111") {
			t.Errorf("%s: the error contains the value", name)
		}
		if !r.Holds([]byte(text), Unknown) {
			t.Errorf("%s: not held", name)
		}
	}
	if out, changed, err := r.Value(t.Context(), nil, []byte(`{"card":"4111111111111111","n":41111111}`), Unknown, nil); err != nil || !changed {
		t.Errorf("%s %v", out, err)
	}
}
