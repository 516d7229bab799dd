package cursoride

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// listed is SQL for n values of one row of ItemTable.
func listedSQL(key, before, after string, n int, one func(i int) string) string {
	var parts []string
	for i := range n {
		parts = append(parts, one(i))
	}
	return "INSERT INTO ItemTable VALUES ('" + key + "','" + before + strings.Join(parts, ",") + after + "');"
}

func rowsSQL(n int, one func(i int) string) string {
	var parts []string
	for i := range n {
		parts = append(parts, one(i))
	}
	return "INSERT INTO cursorDiskKV VALUES " + strings.Join(parts, ",") + ";"
}

func uuidOf(i int) string { return fmt.Sprintf("%08x-0000-4000-8000-000000000000", i) }

// shapes are stores that are made to cost much, by their size.
var shapes = map[string]func(n int) string{
	"heads without bodies": func(n int) string {
		return listedSQL(lists.HeadersKey, `{"allComposers":[`, `]}`, n, func(i int) string {
			return fmt.Sprintf(`{"composerId":"%s","createdAt":%d,"lastUpdatedAt":%d}`, uuidOf(i), 1750000000000+i, 1750000000000+2*i)
		})
	},
	"one session listed often": func(n int) string {
		return listedSQL(lists.HeadersKey, `{"allComposers":[`, `]}`, n, func(i int) string { return fmt.Sprintf(`{"composerId":"c","name":"%d"}`, i) })
	},
	"one bubble listed often": func(n int) string {
		return rowsSQL(1, func(int) string {
			return `('composerData:c','{"fullConversationHeadersOnly":[` + strings.TrimSuffix(strings.Repeat(`{"bubbleId":"b","type":1},`, n), ",") + `]}'),('bubbleId:c:b','{"type":1,"text":"x"}')`
		})
	},
	"bubbles without ids": func(n int) string {
		return rowsSQL(1, func(int) string {
			return `('composerData:c','{"fullConversationHeadersOnly":[` + strings.TrimSuffix(strings.Repeat(`{"bubbleId":"","type":1},`, n), ",") + `]}')`
		}) + rowsSQL(n, func(i int) string { return fmt.Sprintf(`('bubbleId:c:%d','{"type":1,"bubbleId":"","text":"x"}')`, i) })
	},
	"bubbles under other keys": func(n int) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(`{"bubbleId":"b%d","type":2}`, i))
		}
		return rowsSQL(1, func(int) string {
			return `('composerData:c','{"fullConversationHeadersOnly":[` + strings.Join(list, ",") + `]}')`
		}) + rowsSQL(n, func(i int) string { return fmt.Sprintf(`('bubbleId:c:k%d','{"type":2,"bubbleId":"b%d"}')`, i, n-i) })
	},
	"inline bubbles of one id": func(n int) string {
		return listedSQL(lists.ComposersKey, `{"allComposers":[{"composerId":"c","conversation":[`, `]}]}`, n, func(i int) string { return fmt.Sprintf(`{"bubbleId":"b","type":1,"text":"%d"}`, i) })
	},
	"a circle of sessions": func(n int) string {
		return rowsSQL(n, func(i int) string {
			return fmt.Sprintf(`('composerData:%d','{"subagentComposerIds":["%d"],"subagentInfo":{"parentComposerId":"%d"}}')`, i, (i+1)%n, (i+2)%n)
		})
	},
	"children of one": func(n int) string {
		return rowsSQL(n, func(i int) string {
			return fmt.Sprintf(`('composerData:%d','{"subagentInfo":{"parentComposerId":"0"}}')`, i)
		})
	},
	"calls of one id": func(n int) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(`{"bubbleId":"b%d","type":2}`, i))
		}
		return rowsSQL(1, func(int) string {
			return `('composerData:c','{"fullConversationHeadersOnly":[` + strings.Join(list, ",") + `]}')`
		}) + rowsSQL(n, func(i int) string {
			return fmt.Sprintf(`('bubbleId:c:b%d','{"type":2,"capabilityType":15,"toolFormerData":{"tool":5,"toolCallId":"t","name":"read_file","rawArgs":"{}","result":"{}"}}')`, i)
		})
	},
	"bubbles of no list": func(n int) string {
		return rowsSQL(1, func(int) string {
			return `('composerData:c','{"fullConversationHeadersOnly":[{"bubbleId":"b","type":1}]}'),('bubbleId:c:b','{"type":1}')`
		}) + rowsSQL(n, func(i int) string {
			return fmt.Sprintf(`('bubbleId:c:k%d','{"type":1,"text":"x","createdAt":%d}')`, i, 1750000000000+i)
		})
	},
	"strays": func(n int) string {
		return rowsSQL(n, func(i int) string { return fmt.Sprintf(`('bubbleId:%d:b','{}'),('checkpointId:%d:b','{}')`, i, i) })
	},
	"changes of many files": func(n int) string {
		var states, blocks []string
		for i := range n {
			states = append(states, fmt.Sprintf(`"file:///%d":{"content":"a\nb"}`, i))
			blocks = append(blocks, fmt.Sprintf(`"file:///%d":{"x":{"diffId":"d%d"}}`, i, i))
		}
		return rowsSQL(1, func(int) string {
			return `('composerData:c','{"fullConversationHeadersOnly":[{"bubbleId":"b","type":1}],"originalFileStates":{` + strings.Join(states, ",") + `},"codeBlockData":{` + strings.Join(blocks, ",") + `}}')`
		}) + rowsSQL(n, func(i int) string {
			return fmt.Sprintf(`('codeBlockDiff:c:d%d','{"newModelDiffWrtV0":[{"original":{"startLineNumber":1,"endLineNumberExclusive":2},"modified":["z"]}]}')`, i)
		})
	},
	"prompts and lost sessions": func(n int) string {
		return listedSQL(lists.HeadersKey, `{"allComposers":[`, `]}`, n, func(i int) string {
			return fmt.Sprintf(`{"composerId":"%s","createdAt":%d,"lastUpdatedAt":%d}`, uuidOf(i), 1750000000000+100*i, 1750000000050+100*i)
		}) + listedSQL(lists.PromptKeys[0], "[", "]", n, func(i int) string { return fmt.Sprintf(`{"text":"%d"}`, i/2) }) +
			listedSQL(lists.PromptKeys[1], "[", "]", n, func(i int) string {
				return fmt.Sprintf(`{"unixMs":%d,"generationUUID":"g","textDescription":"%d"}`, 1750000000010+100*(n-i), i/2)
			})
	},
	"one prompt, often": func(n int) string {
		return listedSQL(lists.PromptKeys[0], "[", "]", n, func(int) string { return `"x"` }) + listedSQL(lists.PromptKeys[1], "[", "]", n, func(int) string { return `{"textDescription":"x"}` })
	},
	"tabs without ids": func(n int) string {
		return listedSQL(lists.ListRows[2].Key, `{"tabs":[`, `]}`, n, func(int) string { return `{"bubbles":[{"type":"user","text":"x"}]}` })
	},
	"panes": func(n int) string {
		return listedSQL(lists.PanePrefix, "{", "}", n, func(i int) string { return `"` + lists.PaneMember + uuidOf(i) + `":{}` })
	},
}

// TestCosts: a store that is eight times as large, and made to cost much, costs
// about eight times as much to list, to decode, and to take a part of. Counted
// are allocations and their bytes.
func TestCosts(t *testing.T) {
	const few, times, most = 300, 8, 11
	v := formats.View{OnLoss: func(loss.Loss) {}, OnNotice: func(string) {}}
	ways := map[string]func(l *formats.Location){
		"heads": func(l *formats.Location) {
			for _, err := range Format().Sessions.Heads(t.Context(), l, v) {
				if err != nil {
					t.Fatal(err)
				}
			}
		},
		"decode": func(l *formats.Location) { decodeAll(t, l, v, session.Selection{History: true}) },
		"part": func(l *formats.Location) {
			part := v
			part.Sessions = []string{"c", "0", uuidOf(1)}
			r, err := Format().Records.Open(t.Context(), l, part)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			for b, err := range r.Batches(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				b.Release()
			}
		},
	}
	for name, shape := range shapes {
		var stores [2]*formats.Location
		for i, n := range [...]int{few, few * times} {
			l, err := formats.Locate(filepath.Join(build(t, kvSQL+shape(n)), filepath.FromSlash(lists.GlobalDB)))
			if err != nil {
				t.Fatal(err)
			}
			stores[i] = l
		}
		for way, run := range ways {
			var count, size [2]float64
			for i, l := range stores {
				count[i], size[i] = allocated(func() { run(l) })
			}
			if count[1] > most*count[0]+10_000 || size[1] > most*size[0]+4<<20 {
				t.Errorf("%s, %s: %.0f allocations of %.0f bytes; of eight times as much %.0f of %.0f", name, way, count[0], size[0], count[1], size[1])
			}
		}
	}
}

func decodeAll(t *testing.T, l *formats.Location, v formats.View, sel session.Selection) {
	for s, err := range Format().Sessions.Decode(t.Context(), l, v, sel) {
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range s.Messages {
			if err != nil {
				t.Fatal(err)
			}
		}
		if s.Files != nil {
			for range s.Files {
			}
		}
	}
}

func allocated(f func()) (count, size float64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs - before.Mallocs), float64(after.TotalAlloc - before.TotalAlloc)
}
