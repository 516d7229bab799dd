// Package linecheck examines text of JSON lines, whoever wrote it, and hands
// its sound lines on: the container layer of `rehome check` for every format
// of that kind.
//
// A line that is handed on is one whole JSON object of valid UTF-8, no deeper
// than rawjson.MaxDepth; what else is odd about it has been reported. Whoever
// asks for more than that asks of the lines alone, so that one fault has one
// finding: Line.Gap says that lines in front could not be read.
//
// Each line is looked at once, eight bytes at a time where it is plain. Memory
// is bounded by the longest line that the format allows.
//
// A file that grows while it is read is read as far as it was long at first; a
// tail that is being written is not torn.
package linecheck

// The rules, by what is wrong. Of several the first counts that is asked of
// the format: what is the end of one client's file is noise in another's.
var (
	damaged   = []string{"RH120"}
	bomb      = []string{"RH121"}
	irregular = []string{"RH122"}
	foreign   = []string{"RH123"}
	marked    = []string{"RH124", "RH125"}
	carriage  = []string{"RH126"}
	torn      = []string{"RH127", "RH128"}
	unended   = []string{"RH129"}
	blank     = []string{"RH130"}
	notJSON   = []string{"RH131", "RH133", "RH132"}
	notObject = []string{"RH134", "RH133", "RH132"}
	glued     = []string{"RH135", "RH133", "RH132"}
	zeros     = []string{"RH136"}
	notUTF8   = []string{"RH137"}
	tooLong   = []string{"RH138"}
	tooDeep   = []string{"RH139"}
	twice     = []string{"RH140"}
	inexact   = []string{"RH141"}
	absurd    = []string{"RH142"}
	half      = []string{"RH143"}
	empty     = []string{"RH144"}
)
