package screen

// Palette colors text if it is true.
type Palette bool

func (p Palette) paint(code, s Safe) Safe {
	if !p || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// Strong returns s in bold.
func (p Palette) Strong(s Safe) Safe { return p.paint("1", s) }

// Faint is for less important text.
func (p Palette) Faint(s Safe) Safe { return p.paint("2", s) }

// Red is for errors and removed text.
func (p Palette) Red(s Safe) Safe { return p.paint("31", s) }

// Green is for success and added text.
func (p Palette) Green(s Safe) Safe { return p.paint("32", s) }

// Yellow is for warnings.
func (p Palette) Yellow(s Safe) Safe { return p.paint("33", s) }

// Cyan is for names.
func (p Palette) Cyan(s Safe) Safe { return p.paint("36", s) }
