package sqlitefile

import (
	"path/filepath"
	"strings"
)

// uri spells an absolute path as the file: URI SQLite wants. Without the prefix
// the driver would drop the query and open the file for writing; unescaped, a
// "?" or "#" in a folder's name would end the path.
func uri(path, query string) string {
	p := filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" && !strings.HasPrefix(p, "//") {
		p = "/" + p // C:/x; \\server\share has its slashes already
	}
	return "file:" + prefixed(escape(p)) + "?" + query
}

// prefixed puts an empty authority before an absolute path, lest one that
// begins with two slashes have its first folder read as a host.
func prefixed(p string) string {
	if strings.HasPrefix(p, "/") {
		return "//" + p
	}
	return p
}

func escape(p string) string {
	const hexdigits = "0123456789ABCDEF"
	var s strings.Builder
	for i := range len(p) {
		c := p[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("/._-~:", c) >= 0:
			s.WriteByte(c)
		default:
			s.WriteByte('%')
			s.WriteByte(hexdigits[c>>4])
			s.WriteByte(hexdigits[c&15])
		}
	}
	return s.String()
}
