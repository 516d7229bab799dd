package rule

import "rehome/formats/store"

// Schemas are the validators of one goroutine, each made when it is first needed.
type Schemas struct {
	pass *Pass
	made map[string]Validator
}

// Schemas returns the validators for one goroutine.
func (p *Pass) Schemas() *Schemas { return &Schemas{p, map[string]Validator{}} }

// Get returns the validator for a published schema, nil unless the schema layer is
// checked.
func (s *Schemas) Get(name string) Validator {
	if s.pass.Schema == nil {
		return nil
	}
	if s.made[name] == nil {
		s.made[name] = s.pass.Schema(name)
	}
	return s.made[name]
}

// Matches checks a document against a schema, reports each cause (RH203) below
// pointer, and returns whether there was none. Without a schema everything matches.
func (p *Pass) Matches(v Validator, doc []byte, at store.Addr, pointer string) bool {
	if v == nil {
		return true
	}
	causes := v(doc)
	for _, c := range causes {
		p.Report(Finding{Rule: "RH203", At: at, Pointer: pointer + c.Pointer, Message: c.Message, Args: c.Args})
	}
	return len(causes) == 0
}
