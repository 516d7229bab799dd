package sdkdoc

import (
	"testing"

	"rehome/formats/store"
)

func TestOmissions(t *testing.T) {
	line, row, cell := store.Addr{File: Agent.File(), Line: 3}, store.Addr{File: "x/store.db", Set: "meta", RowID: 1}, store.WithheldCell()
	for _, c := range []struct {
		it   store.SidecarItem
		want bool
	}{
		{Omission(line, 0), true}, {Omission(row, 1), true},
		{store.SidecarItem{At: line}, false}, {store.SidecarItem{At: line, Row: []store.Cell{store.NullCell()}}, false},
		{store.SidecarItem{At: line, Row: []store.Cell{cell, cell}}, false},
		{Omission(store.Addr{File: "other.ndjson"}, 0), false}, {Omission(store.Addr{Set: "blobs"}, 0), false}, {Omission(store.Addr{Set: "meta", Line: 1}, 0), false},
	} {
		if IsOmission(&c.it) != c.want {
			t.Errorf("%+v: %v", c.it, !c.want)
		}
	}
}

func TestCheckedCells(t *testing.T) {
	for text, want := range map[string]bool{"{}": true, " [1, 2]\n": true, "null": true, "": false, "{": false, `{"a":1}x`: false} {
		if JSON([]byte(text)) != want {
			t.Errorf("JSON %q: %v", text, !want)
		}
	}
	for text, want := range map[string]string{`{"blobId":"ab","storeKind":"x"}`: "ab", `{ "storeKind":"x", "blobId" : "" }`: "", `{"blobId":7}`: "-", `[]`: "-", `{"blobId":"ab"`: "-"} {
		id, ok := RootOf([]byte(text))
		if ok != (want != "-") || ok && id != want {
			t.Errorf("RootOf %q: %q %v", text, id, ok)
		}
	}
	for text, want := range map[string]bool{`{"schemaVersion":1,"type":"sdk_message"}`: true, `{"type":"done","schemaVersion":1}`: true, `{"schemaVersion":"1","type":"done"}`: false, `{"schemaVersion":1}`: false, `7`: false} {
		if Streams([]byte(text)) != want {
			t.Errorf("Streams %q: %v", text, !want)
		}
	}
	for text, want := range map[string]bool{"2026-06-04T10:00:00.000Z": true, "2026-06-04": true, "2026-06-04 10:00:00": true, "+012026-06-04T10:00:00.000Z": true, "": false, "yesterday": false, "2026-13-04T10:00:00Z": false} {
		if IsTime([]byte(text)) != want {
			t.Errorf("IsTime %q: %v", text, !want)
		}
	}
	for text, want := range map[string]bool{"0": true, "8640000000000000": true, "8640000000000001": false, "1e400": false, `"x"`: false} {
		if IsMillis([]byte(text)) != want {
			t.Errorf("IsMillis %q: %v", text, !want)
		}
	}
	var p Parser
	for text, want := range map[string]string{`"aGk="`: "hi", `"aGk"`: "hi", `""`: "", `"_-8="`: "\xff\xef", `"?"`: "-", `7`: "-"} {
		got, ok := p.Data(nil, []byte(text))
		if ok != (want != "-") || ok && string(got) != want {
			t.Errorf("Data %s: %q %v", text, got, ok)
		}
	}
}
