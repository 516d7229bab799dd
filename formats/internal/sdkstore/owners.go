package sdkstore

import (
	"path"
	"unicode/utf8"
)

// owner is a database of checkpoints, and whose it is.
type owner struct {
	Path, Agent string
	ByFolder    bool // it lies in the folder of a known agent
	Named       bool // nothing says whose it is: it is named like its folder
}

// OwnersOf finds out whose each database is: it lies in a folder named by the
// agent's id, or else its meta row says so; failing both it is named like its
// folder. agents are those of the catalog, ask reads the meta row.
func OwnersOf(agents, paths []string, ask func(path string) (agent string, err error)) (out []owner, err error) {
	byFolder := map[string][]string{} // in the order of their paths
	for _, p := range paths {
		folder := path.Base(path.Dir(p))
		byFolder[folder] = append(byFolder[folder], p)
	}
	claimed, taken, known := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, id := range agents {
		known[id] = true
		for _, folder := range []string{path.Base(path.Dir(StorePath(id))), HashOf(id)} {
			if list := byFolder[folder]; len(list) > 0 && !taken[id] {
				claimed[list[0]], taken[id] = true, true
				out = append(out, owner{list[0], id, true, false})
			}
		}
	}
	for _, p := range paths {
		if claimed[p] {
			continue
		}
		o := owner{Path: p}
		if o.Agent, err = ask(p); err != nil {
			return nil, err
		}
		if o.Named = o.Agent == "" || taken[o.Agent] || !utf8.ValidString(o.Agent); o.Named {
			for o.Agent = path.Base(path.Dir(p)); known[o.Agent] || taken[o.Agent]; {
				o.Agent += "'"
			}
		}
		taken[o.Agent] = true
		out = append(out, o)
	}
	return out, nil
}
