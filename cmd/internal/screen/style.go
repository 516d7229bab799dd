package screen

// Style is how text is displayed: any number of these bits.
type Style uint8

// The styles of text.
const (
	Bold Style = 1 << iota
	Italic
	Underlined
	Struck
	Code // in a color
)

// Styled returns s in a style. It ends with a reset, so the style does not reach
// the text after it.
func (p Palette) Styled(s Safe, style Style) Safe {
	if style == 0 {
		return s
	}
	codes := make([]byte, 0, len("1;3;4;9;36;"))
	for i, code := range [...]string{"1;", "3;", "4;", "9;", "36;"} {
		if style&(1<<i) != 0 {
			codes = append(codes, code...)
		}
	}
	return p.paint(Safe(codes[:len(codes)-1]), s)
}
