package storedb

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
)

func TestMeta(t *testing.T) {
	extras := func(m *Meta) string {
		var b strings.Builder
		for _, e := range m.Extras {
			fmt.Fprintf(&b, "%s=%s ", e.Name, e.Raw)
		}
		return strings.TrimSpace(b.String())
	}
	for text, want := range map[string]string{
		`{"agentId":"a","latestRootBlobId":"","createdAt":1000}`:                                               "a 1970-01-01T00:00:01.000Z <nil>  3/3",
		`{"agentId":"a","agentId":"b","createdAt":"2000"}`:                                                     "b 1970-01-01T00:00:02.000Z <nil> meta.agentId=\"a\" 3/2",
		`{"agentId":7,"createdAt":"late"}`:                                                                     "  <nil> meta.agentId=7 meta.createdAt=\"late\" 2/0",
		`{"agentId":"a","createdAt":"2026-01-02T03:04:05Z","mood":{}}`:                                         "a 2026-01-02T03:04:05.000Z <nil> meta.mood={} 3/2",
		`{"blobEncryptionKey":"0123","apiKey":"0123456789","x":{"blobEncryptionKey":"0123","y":1}}`:            `  <nil> meta.x={"y":1} 3/2`,
		`{"subagentInfo":{"parentAgentId":"p","toolCallId":"c","typeName":"explore","rootParentAgentId":"r"}}`: `  &{p c  explore } meta.subagentInfo.rootParentAgentId="r" 2/1`,
		`{"subagentInfo":{"typeName":"explore"}}`:                                                              `  <nil> meta.subagentInfo={"typeName":"explore"} 1/0`,
		` [1]`: "none", `{"agentId":`: "none", "": "none",
	} {
		for _, value := range []string{text, hex.EncodeToString([]byte(text)), strings.ToUpper(hex.EncodeToString([]byte(text)))} {
			got := "none"
			if m := ParseMeta(MetaText([]byte(value))); m != nil {
				id, at, parent := m.Text(MetaAgent), "", m.Parent()
				if s := m.Created(); s.Known() {
					at = s.Time().Format("2006-01-02T15:04:05.000Z")
				}
				tally := m.Account()
				got = fmt.Sprintf("%s %s %v %s %d/%d", id, at, parent, extras(m), tally.Members, tally.MembersConverted)
			}
			if got != want {
				t.Errorf("%s:\n got %s\nwant %s", text, got, want)
			}
		}
	}
}
