package picker

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rehome/cmd/internal/screen"
)

const (
	minPreviewHeight = 24 // a lower screen has no preview
	marker           = "> "
)

// headerRows returns how many lines of the header fit.
func (m *model) headerRows() int {
	if m.list == nil {
		return 0
	}
	return min(len(m.list.Header), m.height/4)
}

// previewRows returns the height of the preview without the line above it.
func (m *model) previewRows() int {
	if m.height < minPreviewHeight {
		return 0
	}
	return (m.height - m.headerRows()) / 2
}

// listRows returns the height of the list: all but the prompt, the footer and
// the preview with its line.
func (m *model) listRows() int {
	n := m.height - m.headerRows() - 2
	if preview := m.previewRows(); preview > 0 {
		n -= preview + 1
	}
	return max(n, 1)
}

// View draws the screen.
func (m *model) View() tea.View {
	var lines []string
	add := func(s screen.Safe) { lines = append(lines, string(s)) }
	for n := range m.headerRows() {
		add(screen.Cut(m.list.Header[n], m.width))
	}
	p := m.o.Palette
	query := screen.Visible(string(m.query))
	count := m.o.Loading
	if m.list != nil {
		count = screen.Grouped(int64(len(m.found))) + " of " + m.list.Count
	}
	room := m.width - len(marker) - screen.Cells(query) - screen.Cells(count) - 1
	prompt := p.Strong(marker) + query
	if room >= 0 {
		prompt += screen.Repeat(" ", room) + p.Faint(count)
	}
	cursor := tea.NewCursor(len(marker)+screen.Cells(query), len(lines))
	add(prompt)
	m.viewList(add)
	lines = append(lines, m.viewPreview()...)
	add(p.Faint(m.footer()))
	v := tea.NewView(strings.Join(lines, "\n"))
	v.AltScreen, v.Cursor = true, cursor
	return v
}

// footer names the keys, as far as there is room.
func (m *model) footer() (out screen.Safe) {
	keys := []screen.Safe{"enter " + m.o.Action, "esc quit", "↑↓ choose", "type to filter"}
	if list, at := m.actions(); len(list) > 0 {
		keys[0] = "enter " + list[at]
		if len(list) > 1 {
			keys = slices.Insert(keys, 1, "tab "+list[(at+1)%len(list)])
		}
	}
	if m.previewRows() > 0 {
		keys = append(keys, "shift+↑↓ scroll")
	}
	for _, k := range keys {
		if out != "" {
			k = "   " + k
		}
		if screen.Cells(out+k) > m.width {
			break
		}
		out += k
	}
	return out
}

func (m *model) viewList(add func(screen.Safe)) {
	rows := m.listRows()
	m.top = max(min(m.top, m.cursor), m.cursor-rows+1)
	for n := m.top; n < m.top+rows; n++ {
		switch {
		case n >= len(m.found):
			add("")
		case n == m.cursor:
			add(m.o.Palette.Cyan(marker) + m.list.Line(m.found[n], m.width-len(marker), true))
		default:
			add("  " + m.list.Line(m.found[n], m.width-len(marker), false))
		}
	}
}

func (m *model) viewPreview() []string {
	rows := m.previewRows()
	if rows == 0 {
		return nil
	}
	var lines []string
	if m.cursor < len(m.found) {
		lines = m.previews[m.found[m.cursor]]
	}
	m.scroll = max(0, min(m.scroll, len(lines)-rows))
	shown := make([]string, rows)
	copy(shown, lines[min(m.scroll, len(lines)):])
	return append([]string{string(m.o.Palette.Faint(screen.Repeat("─", m.width)))}, shown...)
}
