package screen

// Palette colors text if it is true. Every command uses the same colors for the
// same things: most text has none, what identifies something has a color, and
// what is said about it is faint. Pad and cut text before it is colored.
type Palette bool

func (p Palette) paint(code, s Safe) Safe {
	if !p || s == "" || code == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// Strong returns s in bold. It is for headings and for commands to run next.
func (p Palette) Strong(s Safe) Safe { return p.paint("1", s) }

// Faint is for less important text: times, counts, places, hints.
func (p Palette) Faint(s Safe) Safe { return p.paint("2", s) }

// Red is for errors and removed text.
func (p Palette) Red(s Safe) Safe { return p.paint("31", s) }

// Green is for success and added text.
func (p Palette) Green(s Safe) Safe { return p.paint("32", s) }

// RedWord and GreenWord are for the words that differ in such text.
func (p Palette) RedWord(s Safe) Safe   { return p.paint("7;31", s) }
func (p Palette) GreenWord(s Safe) Safe { return p.paint("7;32", s) }

// Yellow is for warnings.
func (p Palette) Yellow(s Safe) Safe { return p.paint("33", s) }

// Cyan is for ids and names.
func (p Palette) Cyan(s Safe) Safe { return p.paint("36", s) }

// OK returns the mark of a success: "✓".
func (p Palette) OK() Safe { return p.Green("✓") }

// Bad returns the mark of a failure: "✗".
func (p Palette) Bad() Safe { return p.Red("✗") }

// Warn returns the mark of a warning: "!".
func (p Palette) Warn() Safe { return p.Yellow("!") }

// clientColors are the colors of clients. All are readable on dark and on light
// backgrounds, and none of them means success, warning or error.
// Names of clients are spread over them, and the first nine clients have one each.
var clientColors = [...]Safe{"38;5;137", "38;5;133", "38;5;67", "38;5;68", "38;5;101", "38;5;66", "38;5;173", "38;5;139", "38;5;97"}

// Client returns s in the color of a client, which is always the same for one name.
func (p Palette) Client(client string, s Safe) Safe {
	sum := uint32(0)
	for _, c := range []byte(client) {
		sum = sum*2610 + uint32(c)
	}
	return p.paint(clientColors[sum%uint32(len(clientColors))], s)
}
