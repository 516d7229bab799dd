package loss

import "slices"

// Consequence says what a loss means for the model and the person that continue the
// session, however it came about.
type Consequence string

const (
	// Unseen means that the model does not see something that it saw before, or that
	// was said.
	Unseen Consequence = "unseen"
	// Changed means that the model sees it in another form, or with a placeholder or an
	// inferred value.
	Changed Consequence = "changed"
	// ClientOnly means that the model sees the same, but the client shows less or can
	// do less with it, such as undo a change.
	ClientOnly Consequence = "client"
	// None means that the conversation is not affected: it is about ids, times,
	// metadata of the old client, or other files.
	None Consequence = "none"
)

// Consequences returns all consequences, those that matter most first.
func Consequences() []Consequence { return []Consequence{Unseen, Changed, ClientOnly, None} }

// matters reports whether a summary mentions these losses.
func (c Consequence) matters() bool { return c == Unseen || c == ClientOnly }

// Consequence returns what the loss means for those who continue.
func (c Code) Consequence() Consequence { return c.Definition().Consequence }

// Brief returns the losses that a summary mentions, in brief words and without codes
// or places: first what the model does not see.
func Brief(groups []Group) (out []Group) {
	for _, c := range Consequences() {
		for _, g := range groups {
			if g.Code.Consequence() != c || !c.matters() {
				continue
			}
			brief := g.Code.Definition().Brief
			i := slices.IndexFunc(out, func(have Group) bool { return have.Code.Definition().Brief == brief })
			if i < 0 {
				i, out = len(out), append(out, Group{Code: g.Code, Consequence: c})
			}
			out[i].Count += g.Count
			if out[i].What = brief[1]; out[i].Count == 1 {
				out[i].What = brief[0]
			}
		}
	}
	return out
}
