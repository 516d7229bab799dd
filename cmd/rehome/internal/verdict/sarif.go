package verdict

import (
	"fmt"
	"slices"

	"rehome/convert"
	"rehome/formats"
	"rehome/formats/rule"
)

// The parts of SARIF 2.1.0 that are used.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID       string        `json:"id"`
		Short    sarifText     `json:"shortDescription"`
		Full     sarifText     `json:"fullDescription"`
		Help     sarifText     `json:"help"`
		Defaults sarifDefaults `json:"defaultConfiguration"`
		More     sarifTags     `json:"properties"`
	}
	sarifDefaults struct {
		Level rule.Severity `json:"level"`
	}
	sarifTags struct {
		Tags []string `json:"tags"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifInvocation struct {
		Successful bool          `json:"executionSuccessful"`
		Remarks    []sarifRemark `json:"toolExecutionNotifications,omitempty"`
	}
	sarifRemark struct {
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
	sarifResult struct {
		Rule      string            `json:"ruleId"`
		Index     int               `json:"ruleIndex"`
		Level     rule.Severity     `json:"level"`
		Message   sarifText         `json:"message"`
		Locations []sarifLocation   `json:"locations"`
		Prints    map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		Line int `json:"startLine"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
	}
)

const (
	sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	printName   = "rehomePlace/v2"
)

// SARIF is the verdict as SARIF 2.1.0, for code scanning. wd is the folder that
// its paths begin in.
func (v *Verdict) SARIF(wd string) any {
	run := sarifRun{Results: []sarifResult{}, Invocations: []sarifInvocation{{Successful: len(v.Failed()) == 0}}}
	run.Tool.Driver = sarifDriver{Name: "rehome", Version: v.Version, Rules: []sarifRule{}}
	remark := func(r sarifRemark) {
		run.Invocations[0].Remarks = append(run.Invocations[0].Remarks, r)
	}
	index := map[string]int{}
	for _, s := range v.Stores {
		if s.Err != nil {
			text := s.Err.Error()
			if hint := formats.Hint(s.Err); hint != "" {
				text += "\n" + hint
			}
			remark(sarifRemark{"error", sarifText{text}, []sarifLocation{{Physical: sarifPhysical{Artifact: sarifArtifact{uri(slashed(s.Path, wd))}}}}})
		}
		for _, b := range v.told(s) {
			at, ok := index[b.Rule.ID]
			if !ok {
				at = len(run.Tool.Driver.Rules)
				index[b.Rule.ID] = at
				run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRuleOf(b.Rule))
			}
			for i, f := range b.Places {
				run.Results = append(run.Results, sarifResult{
					Rule: b.Rule.ID, Index: at, Level: b.Rule.Severity, Message: sarifText{sentence(b.Rule, f)},
					Locations: []sarifLocation{sarifAt(s, f, wd)},
					Prints:    map[string]string{printName: b.Fingerprint(i)},
				})
			}
			if rest := b.Count - int64(len(b.Places)); rest > 0 {
				remark(sarifRemark{"note", sarifText{fmt.Sprintf("%s: %s is broken %d more times in %s", b.Rule.ID, b.Rule.Title, rest, slashed(s.Path, wd))}, nil})
			}
		}
	}
	return sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{run}}
}

func sarifRuleOf(r *rule.Rule) sarifRule {
	return sarifRule{
		ID: r.ID, Short: sarifText{r.Title}, Full: sarifText{r.Why}, Help: sarifText{r.Fix},
		Defaults: sarifDefaults{r.Severity}, More: sarifTags{slices.Concat([]string{r.Layer.String()}, tagsOf(r))},
	}
}

// tagsOf are the formats that a rule is of, where it is not of all.
func tagsOf(r *rule.Rule) []string {
	if slices.Contains(r.Formats, "*") {
		return nil
	}
	return r.Formats
}

// sarifAt is a place: lines count in text files alone, a record of a table has
// a name instead.
func sarifAt(s *convert.CheckedStore, f rule.Finding, wd string) sarifLocation {
	l := sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{uri(slashed(s.File(f.At), wd))}}}
	if f.At.Line > 0 {
		l.Physical.Region = &sarifRegion{f.At.Line}
	}
	at := f.At
	at.Line = 0
	if name := inside(at); name != "" {
		l.Logical = []sarifLogical{{name}}
	}
	return l
}

// sentence is what a breach says by itself, without the rule's table at hand.
func sentence(r *rule.Rule, f rule.Finding) string {
	if what := says(f); what != "" {
		return r.Title + ": " + what
	}
	return r.Title
}
