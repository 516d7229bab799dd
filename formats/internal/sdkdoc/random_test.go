package sdkdoc

import (
	"encoding/base64"
	"math/rand/v2"
	"strconv"
	"strings"

	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// texts are what a text cell may hold, the ordinary first.
var texts = []string{
	"", "agent-1", "run-1", "a b", "ünï 𝒳 👩‍👩‍👧", "\x00", "nul\x00byte", "\u2028\u0085\x7f", "quote\"s \\ /", "tab\there\nbreak\r", "\xff\xfe", "\xed\xa0\x80", "1", "null",
	"\ufeffbom", strings.Repeat("long ", 3000),
}

var jsons = []string{
	"{}", "[]", "null", `{"a":1}`, `{"a": 1 }`, ` {"a":1}`, "{\"a\":\n1}", "{\"a\":1}\n", `{"n":9007199254740993,"m":1e400,"o":1.0}`, `"x"`, `12`, `{"a":1,"a":2}`, `{"a":`, `x`, "",
	"[\"\u2028\"]", `["\ud800","\u0000"]`, "[\"\xff\"]", strings.Repeat("[", 512) + strings.Repeat("]", 512), strings.Repeat("[", 513) + strings.Repeat("]", 513),
	"[" + strings.Repeat("1,", 5000) + "1]", "[\"\x00\"]", `{"blobEncryptionKey":"00"}`,
}

var times = []string{
	"2026-06-04T10:00:00.000Z", "1970-01-01T00:00:00.000Z", "2026-06-04T10:00:00Z", "2026-02-30T00:00:00.000Z", "+010000-01-01T00:00:00.000Z", "-000001-01-01T00:00:00.000Z", "-000000-01-01T00:00:00.000Z",
	"0000-01-01T00:00:00.000Z", "yesterday", "",
}

var refs = []string{
	`{"blobId":"ab12","storeKind":"local-agent-store"}`, `{"blobId":"ab12","storeKind":"local-sqlite"}`, `{"storeKind":"local-agent-store","blobId":"ab12"}`, `{"blobId":"é\n","storeKind":"local-agent-store"}`,
	`{"blobId":5}`, `{`, "null", `{"blobId":"","storeKind":"local-agent-store"}`, ` {"blobId":"ab"} `,
}

func pick(r *rand.Rand, from []string) string {
	if r.IntN(3) > 0 {
		return from[r.IntN(min(4, len(from)))]
	}
	return from[r.IntN(len(from))]
}

func randomRow(r *rand.Rand, k Kind) []store.Cell {
	names := k.Columns()
	row := make([]store.Cell, len(names))
	for i, name := range names {
		row[i] = randomCell(r, name)
	}
	return row
}

func randomCell(r *rand.Rand, name string) store.Cell {
	text := func(from []string) store.Cell { return store.TextCell([]byte(pick(r, from))) }
	switch n := r.IntN(60); {
	case n == 0:
		return store.BlobCell([]byte(pick(r, texts)))
	case n == 1:
		return store.IntCell(int64(r.Uint64()))
	case n == 2:
		return store.RealCell(r.Float64())
	case n < 12:
		return store.NullCell()
	}
	switch {
	case name == "seq" || name == "turn_number":
		return store.IntCell([]int64{1, 2, 0, -1, 1 << 60, 9007199254740993}[r.IntN(6)])
	case name == "status":
		return text([]string{"IDLE", "FINISHED", "ERROR", "CANCELLED", "EXPIRED", "CREATING", "RUNNING", "finished", "ÜBER", "", "X\"\n"})
	case name == "id":
		return text([]string{"ab12", strings.Repeat("0f", 32), "", "AB", "abc", "zz", "\xff\xff"})
	case name == "data":
		return store.BlobCell([]byte(pick(r, texts)))
	case strings.HasSuffix(name, "ref_json"):
		return text(refs)
	case strings.HasSuffix(name, "_json"):
		return text(jsons)
	case strings.HasSuffix(name, "_at"):
		return text(times)
	}
	return text(texts)
}

// randomLine is a line of a kind: mostly well made, then spoilt a little.
func randomLine(r *rand.Rand, k Kind) []byte {
	var row []store.Cell
	for row == nil || !k.Named(row) {
		row = randomRow(r, k)
	}
	line, _ := k.Append(nil, row)
	if r.IntN(3) == 0 {
		return line
	}
	for range 1 + r.IntN(2) {
		line = spoil(r, k, line)
	}
	return line
}

func spoil(r *rand.Rand, k Kind, line []byte) []byte {
	values := []string{"null", "0", "1.5", "1e3", "1.0", "-0", "12345678901234567890", "9007199254740993", `"x"`, `"\ud834\udd1e\ud800\u0041\/"`, "[]", "{}", "true", `{"id":"m","params":[]}`, `{"id":"m","x":1}`,
		`{"schemaVersion":1,"rootBlobId":"ab"}`, `{"schemaVersion":2,"rootBlobId":"ab"}`, `{"rootBlobId":"\u0061"}`, `"` + base64.RawURLEncoding.EncodeToString([]byte("\xff\xfe?>")) + `"`, "\"\u2028\"", " 1 "}
	names := kinds[k].members
	name := names[r.IntN(len(names))]
	s := string(line)
	switch r.IntN(9) {
	case 0: // another value, or the member twice
		return []byte(strings.Replace(s, "{", `{"`+name+`":`+values[r.IntN(len(values))]+",", 1))
	case 1, 2: // another value in its place
		if i := strings.Index(s, `"`+name+`":`); i >= 0 {
			from := i + len(name) + 3
			if end, err := rawjson.End(line, from); err == nil {
				return []byte(s[:from] + values[r.IntN(len(values))] + s[end:])
			}
		}
	case 3: // no such member
		return []byte(strings.Replace(s, `"`+name+`":`, `"x`+strconv.Itoa(r.IntN(9))+`":`, 1))
	case 4:
		return []byte(s + "\r")
	case 5:
		return []byte(strings.Replace(s, ":", ": ", 1))
	case 6: // torn
		return line[:r.IntN(len(line)+1)]
	case 7:
		if len(line) > 0 {
			line[r.IntN(len(line))] = "\"{}[],:\\\x00\xffaé0"[r.IntN(14)]
		}
	case 8:
		return []byte(strings.Replace(s, `"`+name+`"`, `"\u00`+strconv.FormatInt(int64(name[0]), 16)+name[1:]+`"`, 1))
	}
	return line
}
