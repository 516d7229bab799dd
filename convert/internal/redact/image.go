package redact

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"io"
)

// picture is the structure of an image file.
type picture struct {
	parts []picturePart
	fix   func(b []byte) // repairs the lengths of what is left
}

// picturePart is a range of an image.
type picturePart struct {
	from, to int
	texts    [][]byte // of metadata, also inflated; nil if the part is needed to show the image
}

// maxInflated is the max size of compressed metadata.
const maxInflated = 4 << 20

// image returns an image without the metadata that hold values; ok is false if the
// bytes are no image.
func (e *editor) image(b []byte) (out []byte, changed bool, err error, ok bool) {
	img, ok := parseImage(b)
	if !ok {
		return b, false, nil, false
	}
	for _, p := range img.parts {
		hit := false
		for _, text := range p.texts {
			probe := editor{Redactor: e.Redactor, ctx: e.ctx}
			if _, c, err := probe.text(text, 1); c || err != nil {
				e.hits, hit = append(e.hits, probe.hits...), true
				break
			}
		}
		if hit {
			changed = true
			continue
		}
		if p.texts == nil {
			if err := e.refuse(b[p.from:p.to], "the data of an image", minBinary); err != nil {
				return nil, false, err, true
			}
		}
		out = append(out, b[p.from:p.to]...)
	}
	if !changed {
		return b, false, nil, true
	}
	if img.fix != nil {
		img.fix(out)
	}
	return out, true, nil, true
}

func parseImage(b []byte) (img picture, ok bool) {
	switch {
	case bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")):
		return parsePNG(b)
	case bytes.HasPrefix(b, []byte("\xff\xd8\xff")):
		return parseJPEG(b)
	case bytes.HasPrefix(b, []byte("GIF87a")), bytes.HasPrefix(b, []byte("GIF89a")):
		return parseGIF(b)
	case len(b) > 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP":
		return parseWebP(b)
	}
	return img, false
}

// add adds a part. Whatever follows the image is metadata, too.
func (g *picture) add(from, to int, texts ...[]byte) {
	if to > from {
		g.parts = append(g.parts, picturePart{from, to, texts})
	}
}

func parsePNG(b []byte) (img picture, ok bool) {
	i := 8
	img.add(0, i)
	for i < len(b) {
		if len(b)-i < 12 {
			break
		}
		size := int64(binary.BigEndian.Uint32(b[i:]))
		if size > int64(len(b)-i-12) {
			break
		}
		kind, data, end := string(b[i+4:i+8]), b[i+8:i+8+int(size)], i+12+int(size)
		switch kind {
		case "tEXt", "eXIf", "iTXt", "zTXt", "iCCP":
			img.add(i, end, data, inflate(data))
		default:
			if kind[0]&0x20 == 0 || bytes.Contains([]byte("tRNS gAMA cHRM sRGB pHYs bKGD sBIT hIST sPLT acTL fcTL fdAT"), []byte(kind)) {
				img.add(i, end)
			} else {
				img.add(i, end, data)
			}
		}
		if i = end; kind == "IEND" {
			break
		}
	}
	img.add(i, len(b), b[i:])
	return img, true
}

// inflate returns what is compressed after a name that ends in zero bytes.
func inflate(data []byte) []byte {
	for i := bytes.IndexByte(data, 0); i >= 0 && i+2 < len(data); i++ {
		if data[i] != 0x78 {
			continue
		}
		z := flate.NewReader(bytes.NewReader(data[i+2:]))
		if out, _ := io.ReadAll(io.LimitReader(z, maxInflated)); len(out) > 0 {
			return out
		}
	}
	return nil
}

func parseJPEG(b []byte) (img picture, ok bool) {
	i := 2
	img.add(0, i)
	for len(b)-i >= 4 && b[i] == 0xFF && b[i+1] != 0xDA {
		end := i + 2 + int(binary.BigEndian.Uint16(b[i+2:]))
		if end > len(b) || end < i+4 {
			break
		}
		if kind := b[i+1]; kind > 0xE0 && kind <= 0xEF || kind == 0xFE {
			img.add(i, end, b[i+4:end])
		} else {
			img.add(i, end)
		}
		i = end
	}
	end := len(b)
	if at := bytes.LastIndex(b[i:], []byte{0xFF, 0xD9}); at >= 0 {
		end = i + at + 2
	}
	img.add(i, end)
	img.add(end, len(b), b[end:])
	return img, true
}

func parseGIF(b []byte) (img picture, ok bool) {
	if len(b) < 13 {
		return img, false
	}
	i := 13 + colors(b[10])
	if i > len(b) {
		return img, false
	}
	img.add(0, i)
	for i < len(b) && b[i] != 0x3B {
		at := i
		switch {
		case b[i] == 0x21 && len(b)-i > 2:
			i += 2
		case b[i] == 0x2C && len(b)-i > 10:
			i += 11 + colors(b[i+9])
		default:
			img.add(at, len(b), b[at:])
			return img, true
		}
		var data []byte
		for i < len(b) && b[i] != 0 {
			n := min(int(b[i]), len(b)-i-1)
			data = append(data, b[i+1:i+1+n]...)
			i += 1 + n
		}
		if i = min(i+1, len(b)); b[at] == 0x21 && b[at+1] != 0xF9 && !bytes.HasPrefix(data, []byte("NETSCAPE")) {
			img.add(at, i, data)
		} else {
			img.add(at, i)
		}
	}
	end := min(i+1, len(b))
	img.add(i, end)
	img.add(end, len(b), b[end:])
	return img, true
}

// colors returns the size of a table of colors.
func colors(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

func parseWebP(b []byte) (img picture, ok bool) {
	i := 12
	img.add(0, i)
	for len(b)-i >= 8 {
		size := int64(binary.LittleEndian.Uint32(b[i+4:]))
		size += size & 1
		if size > int64(len(b)-i-8) {
			break
		}
		end := i + 8 + int(size)
		switch string(b[i : i+4]) {
		case "VP8 ", "VP8L", "VP8X", "ANIM", "ANMF", "ALPH":
			img.add(i, end)
		default:
			img.add(i, end, b[i+8:end])
		}
		i = end
	}
	img.add(i, len(b), b[i:])
	img.fix = fixWebP
	return img, true
}

// fixWebP writes the size of the file, and which metadata it has.
func fixWebP(b []byte) {
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)-8))
	if len(b) < 21 || string(b[12:16]) != "VP8X" {
		return
	}
	for flag, kind := range map[byte]string{0x20: "ICCP", 0x08: "EXIF", 0x04: "XMP "} {
		if !bytes.Contains(b[12:], []byte(kind)) {
			b[20] &^= flag
		}
	}
}
