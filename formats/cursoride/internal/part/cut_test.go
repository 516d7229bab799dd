package part

import (
	"bytes"
	"strings"
	"testing"

	"rehome/formats/cursoride/internal/lists"
	"rehome/internal/rawjson"
)

// FuzzCut: whatever a list of sessions looks like, what is left of it for a part
// is a list again, and speaks of no session but those that were asked for.
func FuzzCut(f *testing.F) {
	const mine, others = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
	for _, seed := range []string{
		`{"allComposers":[{"composerId":"MINE"},{"composerId":"OTHERS","name":"x"}],"v":1}`, ` { "allComposers" : [ {"composerId":"OTHERS"} , 1, "MINE" ] , "allComposers":[] }`,
		"{\"tabs\":[\n{\"tabId\":\"MINE\"},\r\n{\"bubbles\":[]},{\"tabId\":\"OTHERS\"}]}", `{"workbench.panel.aichat.view.MINE":{},"workbench.panel.aichat.view.OTHERS":{"a":[]},"b":2}`,
		`{"v":1,"m":{"OTHERS":"p","MINE":"p"},"n":{"OTHERS":1},"\u0031":{}}`, `[]`, `null`, "{\"a\":\"\xff\u0085\",\"MINE\":0}",
	} {
		f.Add([]byte(strings.NewReplacer("MINE", mine, "OTHERS", others).Replace(seed)))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m := &marks{ids: map[string]bool{mine: true}}
		if _, _, err := rawjson.Line(raw); err != nil {
			return
		}
		for name, cut := range map[string]func([]byte) ([]byte, string){
			"heads": func(b []byte) ([]byte, string) {
				return m.elements(nil, b, lists.List{Kind: lists.ListWorkspace, Member: "allComposers", ID: lists.HeadID})
			},
			"tabs": func(b []byte) ([]byte, string) {
				return m.elements(nil, b, lists.List{Kind: lists.ListTabs, Member: "tabs", ID: lists.HeadTabID})
			},
			"panes": func(b []byte) ([]byte, string) { return m.members(b, 0, lists.PaneSession) },
			"members": func(b []byte) ([]byte, string) {
				return m.members(b, 1, func(name string) (string, bool) { return name, true })
			},
		} {
			kept, _ := cut(raw)
			if kept == nil {
				continue
			}
			if _, _, err := rawjson.Line(kept); err != nil || len(kept) > len(raw) {
				t.Errorf("%s: %q of %q: %v", name, kept, raw, err)
			}
			again, _ := cut(kept)
			if !bytes.Equal(again, kept) {
				t.Errorf("%s: cut again, %q is %q", name, kept, again)
			}
		}
	})
}
