package cli

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"rehome/cmd/internal/console"
	"rehome/formats"
	"rehome/internal/closest"
)

// address matches the address of a store on a server. A name of one letter is a drive.
var address = regexp.MustCompile(`^[a-z][a-z0-9+.-]+://`)

// refuseAddress rejects the address of a store on a server as an argument of one of
// rehome's own commands, which would take it for a path.
func (p Program) refuseAddress(at *kong.Context) error {
	command := at.Selected().Name
	if command == "search" || !slices.ContainsFunc(Rehome().cliModel().Children, func(n *kong.Node) bool { return n.Name == command }) {
		return nil
	}
	for _, words := range positionals(at) {
		for _, word := range words {
			scheme, _, _ := strings.Cut(word, "://")
			if !address.MatchString(word) || console.Exists(word) {
				continue
			}
			hint := "rehome reads and writes files only; rehome-fleet also takes addresses of databases: see docs/postgres.md"
			switch {
			case p.Name == Rehome().Name:
			case !slices.Contains(p.Schemes, scheme):
				known := "addresses begin with " + strings.Join(p.Schemes, "://, ") + "://"
				return console.Usage(&formats.Error{At: scheme + "://…", Err: errors.New("unknown kind of address"),
					Hint: closest.Hint(scheme, p.Schemes, known)})
			default:
				hint = fmt.Sprintf("copy the store to a folder first: `%s convert ADDRESS FOLDER`", p.Name)
			}
			return console.Usage(&formats.Error{At: scheme + "://…", Err: errors.New("the address of a server is not a path"), Hint: hint})
		}
	}
	return nil
}
