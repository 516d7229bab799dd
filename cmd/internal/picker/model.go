package picker

import (
	"context"
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"rehome/cmd/internal/screen"
)

// model is the state of the screen.
type model struct {
	o    Options
	ctx  context.Context
	list *List // nil until it is loaded

	query  []rune
	found  []int // the rows that match the query
	cursor int   // index into found
	top    int   // the first of found on the screen

	width, height int

	previews map[int][]string   // by row, for this width
	scroll   int                // lines of the preview that are scrolled away
	stop     context.CancelFunc // stops making it

	action screen.Safe // chosen with Tab, for all rows that have it; "" = the first of each

	chosen, chosenAction int
	err                  error
}

type loadedMsg struct {
	list *List
	err  error
}

type previewMsg struct {
	row, width int
	lines      []string
}

// Init loads the list.
func (m *model) Init() tea.Cmd {
	return func() tea.Msg {
		list, err := m.o.Load(m.ctx)
		return loadedMsg{list, err}
	}
}

// Update handles a key or an event.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		if msg.Width != m.width {
			clear(m.previews)
		}
		m.width, m.height = msg.Width, msg.Height
		return m, m.preview()
	case loadedMsg:
		if m.list, m.err = msg.list, msg.err; m.err != nil || len(m.list.Search) == 0 {
			return m, tea.Quit
		}
		for i, text := range m.list.Search {
			m.list.Search[i] = strings.ToLower(text)
		}
		return m, m.refilter()
	case previewMsg:
		if msg.width == m.width {
			m.previews[msg.row] = msg.lines
		}
	case tea.PasteMsg:
		return m, m.typed(msg.Content)
	case tea.KeyPressMsg:
		return m, m.key(msg)
	}
	return m, nil
}

// key handles a key. The footer names the ones that are not obvious.
func (m *model) key(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "esc", "ctrl+c", "ctrl+d", "ctrl+g":
		m.err = ErrCanceled
		return tea.Quit
	case "enter":
		if m.cursor < len(m.found) {
			m.chosen = m.found[m.cursor]
			_, m.chosenAction = m.actions()
			return tea.Quit
		}
	case "tab", "shift+tab":
		if list, at := m.actions(); len(list) > 1 {
			step := map[string]int{"tab": 1, "shift+tab": len(list) - 1}[k.String()]
			m.action = list[(at+step)%len(list)]
		}
	case "ctrl+z":
		return tea.Suspend
	case "up", "ctrl+p", "ctrl+k":
		return m.move(-1)
	case "down", "ctrl+n", "ctrl+j":
		return m.move(1)
	case "pgup":
		return m.move(-m.listRows())
	case "pgdown":
		return m.move(m.listRows())
	case "home":
		return m.move(-len(m.found))
	case "end":
		return m.move(len(m.found))
	case "shift+up":
		m.scroll--
	case "shift+down":
		m.scroll++
	case "backspace", "ctrl+h":
		m.query = m.query[:max(0, len(m.query)-1)]
		return m.refilter()
	case "ctrl+u":
		m.query = nil
		return m.refilter()
	case "ctrl+w":
		rest := strings.TrimRight(string(m.query), " ")
		m.query = []rune(rest[:strings.LastIndexByte(rest, ' ')+1])
		return m.refilter()
	default:
		return m.typed(k.Text)
	}
	return nil
}

// actions returns what can be done with the selected row, and which of it Enter does.
func (m *model) actions() (list []screen.Safe, at int) {
	if m.cursor < len(m.found) && m.list.Actions != nil {
		list = m.list.Actions(m.found[m.cursor])
	}
	return list, max(0, slices.Index(list, m.action))
}

// typed adds text to the query. What cannot be typed, such as line ends of pasted
// text, becomes a space.
func (m *model) typed(text string) tea.Cmd {
	if text == "" {
		return nil
	}
	for _, r := range text {
		if !unicode.IsPrint(r) {
			r = ' '
		}
		m.query = append(m.query, r)
	}
	return m.refilter()
}

// refilter applies the query, and selects the best row.
func (m *model) refilter() tea.Cmd {
	if m.list == nil {
		return nil
	}
	m.found = filter(m.list.Search, string(m.query))
	m.cursor, m.top = 0, 0
	return m.preview()
}

func (m *model) move(by int) tea.Cmd {
	m.cursor = max(0, min(m.cursor+by, len(m.found)-1))
	return m.preview()
}

// preview starts to make the preview of the selected row, and stops what it made
// before.
func (m *model) preview() tea.Cmd {
	if m.stop != nil {
		m.stop()
		m.stop = nil
	}
	m.scroll = 0
	if m.previewRows() == 0 || m.cursor >= len(m.found) {
		return nil
	}
	row, width := m.found[m.cursor], m.width
	if m.previews[row] != nil {
		return nil
	}
	ctx, stop := context.WithCancel(m.ctx)
	m.stop = stop
	return func() tea.Msg {
		lines := strings.Split(m.list.Preview(ctx, row, width), "\n")
		if ctx.Err() != nil {
			return nil // it may be incomplete
		}
		return previewMsg{row, width, lines}
	}
}
