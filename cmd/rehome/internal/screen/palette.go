package screen

// Palette paints words, or leaves them alone.
type Palette bool

func (p Palette) paint(code, s Safe) Safe {
	if !p || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// Strong, Faint and the colors are what the house uses.
func (p Palette) Strong(s Safe) Safe { return p.paint("1", s) }

// Faint is for what is read last.
func (p Palette) Faint(s Safe) Safe { return p.paint("2", s) }

// Red is for what went wrong, and what was taken away.
func (p Palette) Red(s Safe) Safe { return p.paint("31", s) }

// Green is for what went well, and what was added.
func (p Palette) Green(s Safe) Safe { return p.paint("32", s) }

// Yellow is for what asks for attention.
func (p Palette) Yellow(s Safe) Safe { return p.paint("33", s) }

// Cyan is for names.
func (p Palette) Cyan(s Safe) Safe { return p.paint("36", s) }
