package session

import (
	"encoding/json"
	"testing"
	"unicode/utf8"
)

func TestAppendString(t *testing.T) {
	for text, want := range map[string]string{
		"":                         `""`,
		"a\"b\\c/d":                `"a\"b\\c/d"`,
		"\b\t\n\f\r\x00\x1f":       `"\b\t\n\f\r\u0000\u001f"`,
		"\x7f\u0080\u009f\u00a0":   `"\u007f\u0080\u009f` + "\u00a0" + `"`,
		"\u2027\u2028\u2029\u202a": `"` + "\u2027" + `\u2028\u2029` + "\u202a" + `"`,
		"wörld 😀":                  `"wörld 😀"`,
		"\xff a \xc3":              `"` + "\ufffd a \ufffd" + `"`,
		"\xed\xa0\x80":             `"\ud800"`,
		"\xed\xbf\xbf\xed\xa0\xbd": `"\udfff\ud83d"`,
		"\xed\xa0\xbd\xed\xb8\x80": `"😀"`, // two halves, as some write them
		"\xed\xa0":                 `"` + "\ufffd\ufffd" + `"`,
	} {
		got := string(AppendString(nil, text))
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
		if !json.Valid([]byte(got)) || !utf8.ValidString(got) {
			t.Errorf("%q: %s is no JSON", text, got)
		}
		if again := string(AppendString([]byte("x"), text)); again != "x"+got {
			t.Errorf("%q: appended it is %s", text, again)
		}
	}
}

// TestAppendStringAnywhere puts each byte at each place of a text: nothing around it
// changes its spelling.
func TestAppendStringAnywhere(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			text := []byte("abcdefghijklmnopqrst~ !#[]")
			text[at] = byte(c)
			want := `"` + string(text[:at])
			one := string(AppendString(nil, string(rune(c))))
			if c >= 0x80 {
				one = `"` + "\ufffd" + `"`
			}
			want += one[1:len(one)-1] + string(text[at+1:]) + `"`
			if got := string(AppendString(nil, string(text))); got != want {
				t.Fatalf("%q\n got %s\nwant %s", text, got, want)
			}
		}
	}
}

func TestSaid(t *testing.T) {
	text, context, record := &Text{Text: "a"}, &Injected{Tag: "rules"}, &Opaque{Kind: "snapshot"}
	for name, c := range map[string]struct {
		m    Message
		want bool
	}{
		"prompt":         {Message{Role: User, Turn: &Turn{}, Parts: []Part{context, text}}, true},
		"command":        {Message{Role: User, Turn: &Turn{Kind: "shell"}, Parts: []Part{&Injected{Tag: "command-name"}}}, true},
		"answer":         {Message{Role: Assistant, Parts: []Part{text}}, true},
		"reasoning":      {Message{Role: Assistant, Parts: []Part{&Thinking{Redacted: true}}}, true},
		"call":           {Message{Role: Assistant, Parts: []Part{record, &ToolCall{}}}, true},
		"result":         {Message{Role: Tool, Parts: []Part{&ToolResult{}}}, true},
		"image":          {Message{Role: User, Parts: []Part{&Media{}}}, true},
		"system prompt":  {Message{Role: System, Parts: []Part{text}}, false},
		"client's words": {Message{Role: User, Simulated: true, Parts: []Part{text}}, false},
		"context":        {Message{Role: User, Parts: []Part{context}}, false},
		"record":         {Message{Role: Assistant, Parts: []Part{record, context}}, false},
		"compaction":     {Message{Role: User, Parts: []Part{&Boundary{}, &Summary{}}}, false},
		"nothing":        {Message{Role: Assistant}, false},
	} {
		if c.m.Said() != c.want {
			t.Errorf("%s: %v", name, !c.want)
		}
	}
}

func TestStamps(t *testing.T) {
	for text, want := range map[string]Stamp{
		"1970-01-01T00:00:00.000Z":  Stored(0),
		"~1969-12-31T23:59:59.999Z": Inferred(-1),
		"0000-01-01T00:00:00.000Z":  Stored(-62167219200000),
		"9999-12-31T23:59:59.999Z":  Stored(253402300799999),
		"253402300800000":           Stored(253402300800000),
		"~-62167219200001":          Inferred(-62167219200001),
	} {
		got, ok := ParseStamp(text)
		if !ok || got != want || string(AppendStamp(nil, want)) != `"`+text+`"` || !got.Known() {
			t.Errorf("%s: %+v, %s", text, got, AppendStamp(nil, want))
		}
	}
	for _, text := range []string{"", "~", "0", "1700000000000", "2026-01-31", "2026-01-31T12:00:00Z", "2026-01-31T12:00:00.000+01:00", "2026-02-30T12:00:00.000Z", "+253402300800000", "253402300800000 ", "~~253402300800000", "99999999999999999999"} {
		if got, ok := ParseStamp(text); ok {
			t.Errorf("%q was taken for %+v", text, got)
		}
	}
	if (Stamp{}).Known() || Stored(5).Inferred() || Stored(-5).Millis() != -5 || Inferred(0).Time().Unix() != 0 {
		t.Error("stamps do not say what they are")
	}
}

func TestBooks(t *testing.T) {
	var none *SharedAccount
	none.Add(Account{Read: 1}) // nobody keeps these
	b := &SharedAccount{}
	b.Add(Account{Read: 5, Converted: 2, CarriedRaw: 1, Superseded: 1, Members: 3, MembersConverted: 2})
	if b.Total().Balanced() {
		t.Error("a record and a member are missing")
	}
	b.Add(Account{Unreadable: 1, MembersRaw: 1})
	if sum := b.Total(); !sum.Balanced() || sum.Read != 5 {
		t.Errorf("%+v", sum)
	}
}

func TestWants(t *testing.T) {
	if !(Selection{}).Includes("a") || !(Selection{IDs: []string{"b", "a"}}).Includes("a") || (Selection{IDs: []string{"b"}}).Includes("a") {
		t.Error("a selection picks the wrong sessions")
	}
}

// TestLines shows each kind of line with everything in it that the schema's
// fixtures do not need to show: the order of members, and what is absent.
func TestLines(t *testing.T) {
	for want, got := range map[string][]byte{
		`{"type":"session","version":1,"id":"","agent":""}`:                                                        AppendHead(nil, &Session{}),
		`{"type":"message","id":"","role":""}`:                                                                     AppendMessage(nil, &Message{}),
		`{"type":"file","path":""}`:                                                                                AppendFile(nil, &File{}),
		`{"type":"file","path":"p","before":{"text":""},"after":{"base64":"/w=="}}`:                                AppendFile(nil, &File{Path: "p", Before: &Body{}, After: &Body{Bytes: []byte{255}}}),
		`{"type":"message","id":"m","role":"user","turn":{"number":1,"usage":{"input":0,"total":7}}}`:              AppendMessage(nil, &Message{ID: "m", Role: User, Turn: &Turn{Number: 1, Usage: &Usage{0, -1, -1, -1, -1, 7}}}),
		`{"type":"message","id":"m","role":"user","parts":[{"type":"media","base64":""},{"type":"media"}]}`:        AppendMessage(nil, &Message{ID: "m", Role: User, Parts: []Part{&Media{Data: []byte{}}, &Media{}}}),
		`{"type":"session","version":1,"id":"","agent":"","context":{"used":0,"max":0},"extras":[{"name":""}]}`:    AppendHead(nil, &Session{Context: &Context{}, Extras: []Extra{{}}}),
		`{"type":"message","id":"m","role":"tool","parts":[{"type":"boundary"},{"type":"opaque","raw":{"a": 1}}]}`: AppendMessage(nil, &Message{ID: "m", Role: Tool, Parts: []Part{&Boundary{}, &Opaque{Raw: Raw(`{"a": 1}`)}}}),
	} {
		if string(got) != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}
