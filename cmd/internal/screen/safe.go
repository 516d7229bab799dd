package screen

import (
	"fmt"
	"iter"
	"strings"
)

// Safe is text that is safe to print: everything foreign in it has passed
// through Visible or Lines. Untyped constants are Safe. Only this package
// converts other text to Safe.
type Safe string

// Sprintf is fmt.Sprintf, but makes every operand visible that is not Safe.
func Sprintf(format Safe, operands ...any) Safe {
	spelled := make([]any, len(operands))
	for i, o := range operands {
		switch v := o.(type) {
		case Safe, int, int64, float64:
			spelled[i] = v
		default:
			spelled[i] = Visible(fmt.Sprint(v))
		}
	}
	return Safe(fmt.Sprintf(string(format), spelled...))
}

// Join is strings.Join.
func Join(parts []Safe, sep Safe) Safe {
	var b strings.Builder
	n := len(sep) * len(parts)
	for _, p := range parts {
		n += len(p)
	}
	b.Grow(n)
	for i, p := range parts {
		if i > 0 {
			b.WriteString(string(sep))
		}
		b.WriteString(string(p))
	}
	return Safe(b.String())
}

// Repeat is strings.Repeat, but returns "" if n is negative.
func Repeat(s Safe, n int) Safe { return Safe(strings.Repeat(string(s), max(0, n))) }

// Trim is strings.Trim.
func Trim(s Safe, cutset string) Safe { return Safe(strings.Trim(string(s), cutset)) }

// TrimLeft is strings.TrimLeft.
func TrimLeft(s Safe, cutset string) Safe { return Safe(strings.TrimLeft(string(s), cutset)) }

// TrimRight is strings.TrimRight.
func TrimRight(s Safe, cutset string) Safe { return Safe(strings.TrimRight(string(s), cutset)) }

// Replace applies a replacer, whose replacements must be Safe.
func Replace(s Safe, r *strings.Replacer) Safe { return Safe(r.Replace(string(s))) }

// Rows yields the lines of a text without their ends.
func Rows(s Safe) iter.Seq[Safe] {
	return func(yield func(Safe) bool) {
		for line := range strings.Lines(string(s)) {
			if !yield(Safe(strings.TrimSuffix(line, "\n"))) {
				return
			}
		}
	}
}

// ReplaceAll is strings.ReplaceAll.
func ReplaceAll(s, old, new Safe) Safe {
	return Safe(strings.ReplaceAll(string(s), string(old), string(new)))
}
