package cursoride

import (
	"fmt"
	"strings"
	"testing"

	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/session"
)

// TestUnfound: a record whose key is listed and cannot be looked up (text that
// UTF-8 cannot spell), and one that is too long, are noted and counted; those
// behind them come all the same.
func TestUnfound(t *testing.T) {
	const half = `CAST(x'00d8' AS TEXT)` // of a surrogate pair
	for family, want := range map[string]int{lists.FateRow: 1, lists.RequestRow: 1, lists.BubbleRootRow: 1, lists.CheckpointRow: 1, lists.DiffRow: 1} {
		script := strings.Replace(kvSQL, "state.vscdb\n", "state.vscdb\nPRAGMA encoding='UTF-16le';", 1) + `INSERT INTO cursorDiskKV VALUES
('composerData:c1','{"fullConversationHeadersOnly":[{"bubbleId":"b1","type":1}]}'),('bubbleId:c1:b1','{"type":1,"text":"hello"}'),
('` + family + `c1:'||` + half + `,'{"x":1}'),('` + family + `c1:z','{"newMember":"behind it"}');`
		out := decodeAt(t, build(t, script), session.Selection{})
		if len(out.errs) > 0 || !out.has(fmt.Sprintf("# unreadable L309: %d", want)) || !out.has("behind it") ||
			out.tally.Unreadable != 1 || out.tally.Read != 4 || !out.tally.Balanced() {
			t.Errorf("%s: %.3000s", family, out.ledger())
		}
	}
	out := decodeAt(t, build(t, chatSQL(`'{"type":1,"text":"hello"}'`)+`INSERT INTO cursorDiskKV VALUES ('`+lists.FateRow+`c1:a',zeroblob(100000001+4857600)),('ofsContent:c1:b',zeroblob(100000001+4857600)),
('messageRequestContext:c1:b1',zeroblob(100000001+4857600)),('`+lists.FateRow+`c1:z','{"newMember":"behind it"}');`), session.Selection{})
	if len(out.errs) > 0 || !out.has("# unreadable L308: 3") || !out.has("behind it") || out.tally.Unreadable != 3 || !out.tally.Balanced() {
		t.Errorf("%.3000s", out.ledger())
	}
}
