package filename

import (
	"crypto/sha1"
	"encoding/hex"
	"strconv"
)

// NamedUUID returns a name-based UUID (version 5): the same for the same namespace and
// parts, on every machine.
func NamedUUID(namespace string, parts ...string) string {
	sum := NamedSum(namespace, parts...)
	sum[6] = sum[6]&0x0f | 0x50
	sum[8] = sum[8]&0x3f | 0x80
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// NamedSum returns the hash of which NamedUUID makes a UUID.
func NamedSum(namespace string, parts ...string) [sha1.Size]byte {
	b := []byte(namespace)
	for _, p := range parts {
		b = append(strconv.AppendInt(b, int64(len(p)), 10), ':')
		b = append(b, p...)
	}
	return sha1.Sum(b)
}
