// Package picture tells images that models' services accept from all others.
package picture

import (
	"bytes"
	"encoding/binary"
	"image"
	_ "image/gif" // formats that are decoded
	_ "image/jpeg"
	_ "image/png"
)

// maxSide is the most pixels that a side of an image can have.
const maxSide = 8000

// maxPixels is the maximum size of an image that is decoded. Of larger ones, only the
// header and the end are checked.
const maxPixels = 16 << 20

// Kind returns the type of an image by its content; "" if services do not
// accept it, or it is not complete.
func Kind(data []byte) string {
	if len(data) > 16 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP" {
		if size := int64(binary.LittleEndian.Uint32(data[4:])); size < 12 || size+8 > int64(len(data)) {
			return ""
		}
		return "image/webp"
	}
	c, kind, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || c.Width > maxSide || c.Height > maxSide || c.Width < 1 || c.Height < 1 {
		return ""
	}
	end := map[string]string{"png": "IEND\xaeB`\x82", "jpeg": "\xff\xd9", "gif": "\x00;"}[kind]
	if !bytes.Contains(data[len(data)/2:], []byte(end)) {
		return ""
	}
	if c.Width*c.Height <= maxPixels {
		if _, _, err := image.Decode(bytes.NewReader(data)); err != nil {
			return ""
		}
	}
	return "image/" + kind
}
