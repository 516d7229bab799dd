package sqliteddl

import (
	"errors"
	"fmt"
	"slices"

	"rehome/formats/rule"
)

// An index on an expression and a generated column are run for each row, and
// SQLite cannot be stopped in the middle of one. So there is a limit to how
// long one row can take, whoever wrote the schema: functions that take time in
// proportion to what they are given, so many of them, and values so long.
const (
	mostCalls = 200    // of functions, for a row
	mostSteps = 20_000 // tokens of expressions, for a row
	mostDepth = 1000   // parentheses in one another; SQLite's own limit
)

// Effort is what the expressions of a table take for each of its rows.
type Effort struct{ calls, steps int }

func (e Effort) plus(o Effort) Effort { return Effort{e.calls + o.calls, e.steps + o.steps} }

func (e Effort) bearable() error {
	if e.calls > mostCalls {
		return fmt.Errorf("expressions of its table call %d functions per row, max %d", e.calls, mostCalls)
	}
	if e.steps > mostSteps {
		return fmt.Errorf("expressions of its table evaluate %d terms per row, max %d", e.steps, mostSteps)
	}
	return nil
}

// expression adds up what the tokens of an expression take.
type expression struct {
	Effort
	last token
	open []paren
	past bool // the list of columns: in the WHERE of an index
	cast bool // the type in a CAST follows
}

type paren struct {
	searches bool // what is after the first comma is searched for
	comma    bool
}

// add takes the next token: a parenthesis first, the one around it all.
func (x *expression) add(t token) error {
	last := x.last
	x.last = t
	if len(x.open) != 1 || x.past || t.kind == sign && !t.char(',') || t.kind == word && slices.Contains(operators, Fold(t.text)) {
		x.steps++ // neither a plain column of an index nor a comma between two
	}
	if n := len(x.open); n > 0 && x.open[n-1].searches && x.open[n-1].comma && !t.char(')') && !t.char(',') {
		if err := x.pattern(t); err != nil {
			return err
		}
	}
	if last.is("like") || last.is("glob") {
		if err := x.pattern(t); err != nil {
			return err
		}
	}
	cast := x.cast
	x.cast = cast && t.kind == word || t.is("as")
	switch {
	case t.char('(') && cast:
		last = token{} // VARCHAR(20) is a type
		fallthrough
	case t.char('('):
		return x.begin(last)
	case t.char(')'):
		if len(x.open) > 0 {
			x.open = x.open[:len(x.open)-1]
			x.past = len(x.open) == 0 || x.past
		}
	case t.char(','):
		if n := len(x.open); n > 0 {
			x.open[n-1].comma = true
		}
	case t.char('|') && last.char('|'), t.char('>') && last.char('-'), t.is("like"), t.is("glob"):
		x.calls++
	}
	return nil
}

// pattern accepts what is searched for: the time goes with its length too.
func (x *expression) pattern(t token) error {
	if !t.literal() {
		return errors.New("its SQL has a search pattern that is not a constant")
	}
	x.calls += len(t.text) / 8
	return nil
}

// begin opens a parenthesis, after a function's name or not.
func (x *expression) begin(before token) error {
	if len(x.open) == mostDepth {
		return fmt.Errorf("its SQL nests more than %d parentheses", mostDepth)
	}
	x.open = append(x.open, paren{})
	name, named := before.name()
	name = Fold(name)
	if !named || before.kind == word && slices.Contains(operators, name) {
		return nil
	}
	x.calls++
	switch {
	case slices.Contains(searches, name):
		x.open[len(x.open)-1].searches = true
	case !slices.Contains(functions, name):
		return fmt.Errorf("its SQL calls %s() for each row, which is not one of the allowed functions", rule.Clip(name))
	}
	return nil
}

// operators are words that a parenthesis can follow without a call.
var operators = []string{"and", "or", "not", "in", "is", "between", "case", "when", "then", "else", "where", "like", "glob",
	"match", "regexp", "escape", "from", "distinct", "as"}

// searches look for one argument in another, byte by byte.
var searches = []string{"replace", "instr", "trim", "ltrim", "rtrim", "unhex"}

// functions take time in proportion to their arguments and what comes of them.
var functions = []string{"cast", "abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "ceiling", "char", "coalesce",
	"concat", "concat_ws", "cos", "cosh", "date", "datetime", "degrees", "exp", "floor", "format", "hex", "if", "ifnull", "iif",
	"json", "json_array", "json_array_length", "json_error_position", "json_extract", "json_insert", "json_object", "json_pretty",
	"json_quote", "json_remove", "json_replace", "json_set", "json_type", "json_valid", "jsonb", "jsonb_array", "jsonb_extract",
	"jsonb_insert", "jsonb_object", "jsonb_remove", "jsonb_replace", "jsonb_set", "julianday", "length", "likelihood", "likely", "ln",
	"log", "log10", "log2", "lower", "max", "min", "mod", "nullif", "octet_length", "pi", "pow", "power", "printf", "quote", "radians",
	"round", "sign", "sin", "sinh", "soundex", "sqrt", "strftime", "substr", "substring", "tan", "tanh", "time", "timediff", "trunc",
	"typeof", "unicode", "unistr", "unistr_quote", "unixepoch", "unlikely", "upper", "zeroblob"}
