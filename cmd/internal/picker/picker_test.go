package picker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"rehome/cmd/internal/screen"
)

func TestFilter(t *testing.T) {
	texts := []string{
		"fix the flaky login test cursor-cli /home/ann/app 5d0b2b7e",
		"logging in the worker claude-code /home/ann/worker 77777777",
		"write a blog cursor-ide /home/ann/blog 0000abcd",
		"你好 world claude-code /home/ann/app ffff0000",
	}
	for query, want := range map[string][]int{
		"":            {0, 1, 2, 3},
		"login":       {0, 1, 2}, // as it is, before with others between its characters;
		"log":         {0, 1, 2}, // at the start of a word, before in its middle
		"fxlgn":       {0},
		"lgng":        {1},
		"app claude":  {3}, // all words, in any order
		"APP":         {0, 3},
		"5d0b":        {0},
		"你好":          {3},
		"zzz":         nil,
		"login zzz":   nil,
		"cursor blog": {2},
		"wrkr":        {1},
	} {
		if got := filter(texts, query); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", query, got, want)
		}
	}
	far := "a" + strings.Repeat("-", 100) + "b"
	if got := filter([]string{far, "a-b"}, "ab"); !slices.Equal(got, []int{1}) {
		t.Errorf("characters that are far apart are found: %v", got)
	}
}

// screenOf is a list of n rows on a screen.
func screenOf(n, width, height int) *model {
	l := &List{
		Count: screen.Plural(int64(n), "session"),
		Line: func(row, width int, selected bool) screen.Safe {
			return screen.Cut(screen.Sprintf("row %d %v", row, selected), width)
		},
		Preview: func(_ context.Context, row, width int) string {
			return fmt.Sprintf("about %d in %d", row, width) + strings.Repeat("\nmore", 100)
		},
	}
	for i := range n {
		l.Search = append(l.Search, fmt.Sprintf("Row %d", i))
	}
	m := &model{o: Options{Loading: "reading sessions…", Action: "continue"}, ctx: context.Background(), previews: map[int][]string{}, chosen: -1}
	m.send(tea.WindowSizeMsg{Width: width, Height: height})
	m.send(loadedMsg{list: l})
	return m
}

// send gives the model a message, and what comes of it.
func (m *model) send(msg tea.Msg) (quit bool) {
	_, cmd := m.Update(msg)
	if cmd == nil {
		return false
	}
	switch msg := cmd().(type) {
	case tea.QuitMsg:
		return true
	case previewMsg:
		m.send(msg)
	}
	return false
}

func (m *model) press(keys ...tea.KeyPressMsg) (quit bool) {
	for _, k := range keys {
		quit = m.send(k)
	}
	return quit
}

func key(code rune, mod ...tea.KeyMod) tea.KeyPressMsg {
	k := tea.KeyPressMsg{Code: code}
	for _, m := range mod {
		k.Mod |= m
	}
	if k.Mod == 0 && code >= ' ' && code < 0x7f {
		k.Text = string(code)
	}
	return k
}

func text(s string) (out []tea.KeyPressMsg) {
	for _, r := range s {
		out = append(out, key(r))
	}
	return out
}

func TestKeys(t *testing.T) {
	down, up := key(tea.KeyDown), key(tea.KeyUp)
	for name, c := range map[string]struct {
		keys []tea.KeyPressMsg
		want int
	}{
		"first":                 {nil, 0},
		"down":                  {[]tea.KeyPressMsg{down, down, up}, 1},
		"control keys":          {[]tea.KeyPressMsg{key('n', tea.ModCtrl), key('j', tea.ModCtrl), key('p', tea.ModCtrl)}, 1},
		"above the first":       {[]tea.KeyPressMsg{up, up}, 0},
		"last":                  {[]tea.KeyPressMsg{key(tea.KeyEnd)}, 199},
		"below the last":        {[]tea.KeyPressMsg{key(tea.KeyEnd), down}, 199},
		"a page":                {[]tea.KeyPressMsg{key(tea.KeyPgDown)}, 17},
		"and back":              {[]tea.KeyPressMsg{key(tea.KeyPgDown), key(tea.KeyPgUp)}, 0},
		"home":                  {[]tea.KeyPressMsg{key(tea.KeyEnd), key(tea.KeyHome)}, 0},
		"filter":                {text("ow 42"), 42},
		"filter from elsewhere": {append([]tea.KeyPressMsg{key(tea.KeyEnd)}, text("42")...), 42},
		"nothing found":         {text("nothing"), -1},
		"mended":                {append(text("42x"), key(tea.KeyBackspace)), 42},
		"a word less":           {append(text("42 nothing"), key('w', tea.ModCtrl)), 42},
		"cleared":               {append(text("nothing"), key('u', tea.ModCtrl)), 0},
		"backspace in nothing":  {[]tea.KeyPressMsg{key(tea.KeyBackspace)}, 0},
	} {
		m := screenOf(200, 100, 40)
		m.press(c.keys...)
		if quit := m.press(key(tea.KeyEnter)); quit != (c.want >= 0) || m.chosen != c.want || m.err != nil {
			t.Errorf("%s: row %d, %v, %v, want %d", name, m.chosen, quit, m.err, c.want)
		}
	}
	for _, k := range []tea.KeyPressMsg{key(tea.KeyEscape), key('c', tea.ModCtrl)} {
		m := screenOf(3, 80, 24)
		if quit := m.press(down, k); !quit || m.chosen != -1 || !errors.Is(m.err, ErrCanceled) || !errors.Is(m.err, context.Canceled) {
			t.Errorf("%s: row %d, %v, %v", k, m.chosen, quit, m.err)
		}
	}
	m := screenOf(3, 80, 24)
	m.send(tea.PasteMsg{Content: "row\n2\x1b[2J"})
	if got := string(m.query); got != "row 2 [2J" {
		t.Errorf("pasted: %q", got)
	}
}

// TestActions: the footer names what Enter does with the selected row, Tab chooses another
// action, and the choice stays for the rows that have it.
func TestActions(t *testing.T) {
	m := screenOf(3, 100, 40)
	actions := [][]screen.Safe{{"Cursor CLI", "Claude Code"}, {"Codex"}, {"Claude Code", "Cursor CLI", "Codex"}}
	m.list.Actions = func(row int) []screen.Safe { return actions[row] }
	tab, back, down := key(tea.KeyTab), key(tea.KeyTab, tea.ModShift), key(tea.KeyDown)
	for _, c := range []struct {
		keys   []tea.KeyPressMsg
		footer string
		row    int
		action int
	}{
		{nil, "enter Cursor CLI   tab Claude Code   esc quit", 0, 0},
		{[]tea.KeyPressMsg{tab}, "enter Claude Code   tab Cursor CLI   esc quit", 0, 1},
		{[]tea.KeyPressMsg{tab}, "enter Cursor CLI   tab Claude Code   esc quit", 0, 0},
		{[]tea.KeyPressMsg{back, down}, "enter Codex   esc quit", 1, 0},
		{[]tea.KeyPressMsg{tab, down}, "enter Claude Code   tab Cursor CLI   esc quit", 2, 0},
		{[]tea.KeyPressMsg{back}, "enter Codex   tab Claude Code   esc quit", 2, 2},
		{text("nothing"), "enter continue   esc quit", -1, 0},
	} {
		m.press(c.keys...)
		lines := strings.Split(m.View().Content, "\n")
		if got := lines[len(lines)-1]; !strings.HasPrefix(got, c.footer) {
			t.Errorf("footer %q, want %q", got, c.footer)
		}
		m.chosen, m.chosenAction = -1, 0
		if m.press(key(tea.KeyEnter)); m.chosen != c.row || m.chosenAction != c.action {
			t.Errorf("%s: row %d, action %d", c.footer, m.chosen, m.chosenAction)
		}
	}
}

// TestLoading: keys before the list is there are kept, or do nothing.
func TestLoading(t *testing.T) {
	m := screenOf(100, 80, 24)
	list := m.list
	m.list, m.found = nil, nil
	if m.press(append(text("42"), key(tea.KeyDown), key(tea.KeyEnter))...) || !strings.Contains(m.View().Content, "reading sessions…") {
		t.Errorf("a row that is not there was chosen: %d\n%s", m.chosen, m.View().Content)
	}
	m.send(loadedMsg{list: list})
	if !m.press(key(tea.KeyEnter)) || m.chosen != 42 {
		t.Errorf("row %d", m.chosen)
	}
	if m := screenOf(0, 80, 24); m.chosen != -1 || m.err != nil {
		t.Errorf("no rows: %d, %v", m.chosen, m.err)
	}
	failed := errors.New("failed")
	m = &model{o: Options{Load: func(context.Context) (*List, error) { return nil, failed }}}
	if m.send(m.Init()()); !errors.Is(m.err, failed) {
		t.Errorf("got %v", m.err)
	}
}

// TestView: the screen is full and no line is longer than it, at any size; the
// selected row is always on it.
func TestView(t *testing.T) {
	for _, size := range [][2]int{{100, 40}, {60, 20}, {200, 60}, {20, 5}, {80, 24}, {1, 1}, {0, 0}} {
		m := screenOf(50, 10, 10)
		m.list.Header = []screen.Safe{"50 rows", "Choose one"}
		m.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		for range 60 {
			m.press(key(tea.KeyDown))
			m.press(key(tea.KeyDown, tea.ModShift))
			v := m.View()
			lines := strings.Split(v.Content, "\n")
			if len(lines) != max(size[1], 3) || !v.AltScreen {
				t.Fatalf("%v: %d lines", size, len(lines))
			}
			for _, l := range lines {
				if n := screen.Cells(screen.Safe(l)); n > max(size[0], 2) && !strings.HasPrefix(l, "about") {
					t.Errorf("%v: %d cells: %q", size, n, l)
				}
			}
			if want := fmt.Sprintf("> row %d true", m.cursor); size[0] > 20 && !strings.Contains(v.Content, want) {
				t.Errorf("%v: %q is not on the screen\n%s", size, want, v.Content)
			}
			if shown := strings.Contains(v.Content, fmt.Sprintf("about %d in %d", m.cursor, size[0])); shown && m.scroll > 0 {
				t.Error("it does not scroll")
			}
		}
	}
	m := screenOf(50, 100, 40)
	m.press(key(tea.KeyDown))
	if v := m.View().Content; !strings.Contains(v, "about 1 in 100\nmore\n") || !strings.Contains(v, "50 of 50 sessions") || !strings.Contains(v, "\nenter continue   esc quit   ↑↓ choose") {
		t.Errorf("got\n%s", v)
	}
	m.send(tea.WindowSizeMsg{Width: 90, Height: 40}) // a preview depends on the width
	if v := m.View().Content; !strings.Contains(v, "about 1 in 90\n") {
		t.Errorf("got\n%s", v)
	}
	m.press(text("\x07"[:0] + "row 7")...)
	if v := m.View(); !strings.HasPrefix(v.Content, "> row 7  ") || v.Cursor.X != 7 || v.Cursor.Y != 0 {
		t.Errorf("cursor %+v in\n%s", v.Cursor.Position, v.Content)
	}
}

// TestPreviewStops: a preview that nobody looks at any more is stopped, and does
// not appear.
func TestPreviewStops(t *testing.T) {
	m := screenOf(3, 100, 40)
	clear(m.previews)
	begun := make(chan struct{})
	m.list.Preview = func(ctx context.Context, row, _ int) string {
		close(begun)
		<-ctx.Done()
		return "half"
	}
	_, cmd := m.Update(key(tea.KeyDown))
	got := make(chan tea.Msg)
	go func() { got <- cmd() }()
	<-begun
	m.list.Preview = func(context.Context, int, int) string { return "next" }
	m.press(key(tea.KeyDown))
	if msg := <-got; msg != nil || strings.Contains(m.View().Content, "half") || !strings.Contains(m.View().Content, "next") {
		t.Errorf("%v, and the screen is\n%s", msg, m.View().Content)
	}
}
