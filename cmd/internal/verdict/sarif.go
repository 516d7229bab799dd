package verdict

import (
	"fmt"
	"slices"

	"rehome/convert/check"
	"rehome/formats"
	"rehome/formats/rule"
)

// The parts of SARIF 2.1.0 that rehome writes.
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
		ID         string        `json:"id"`
		Short      sarifText     `json:"shortDescription"`
		Full       sarifText     `json:"fullDescription"`
		Help       sarifText     `json:"help"`
		Defaults   sarifDefaults `json:"defaultConfiguration"`
		Properties sarifTags     `json:"properties"`
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
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
	sarifResult struct {
		Rule         string            `json:"ruleId"`
		Index        int               `json:"ruleIndex"`
		Level        rule.Severity     `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
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
	sarifSchema     = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	fingerprintName = "rehomePlace/v2"
)

// SARIF returns the verdict as SARIF 2.1.0, for code scanning. Paths are relative to wd.
func (v *Verdict) SARIF(wd string) any {
	run := sarifRun{Results: []sarifResult{}, Invocations: []sarifInvocation{{Successful: len(v.Failed()) == 0}}}
	run.Tool.Driver = sarifDriver{Name: "rehome", Version: v.Version, Rules: []sarifRule{}}
	notify := func(r sarifNotification) {
		run.Invocations[0].Notifications = append(run.Invocations[0].Notifications, r)
	}
	index := map[string]int{}
	for _, s := range v.Stores {
		if s.Err != nil {
			text := s.Err.Error()
			if hint := formats.Hint(s.Err); hint != "" {
				text += "\n" + hint
			}
			notify(sarifNotification{"error", sarifText{text}, []sarifLocation{{Physical: sarifPhysical{Artifact: sarifArtifact{uri(slashPath(s.Path, wd))}}}}})
		}
		for _, b := range v.listed(s) {
			at, ok := index[b.Rule.ID]
			if !ok {
				at = len(run.Tool.Driver.Rules)
				index[b.Rule.ID] = at
				run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRuleOf(b.Rule))
			}
			for i, f := range b.Places {
				run.Results = append(run.Results, sarifResult{
					Rule: b.Rule.ID, Index: at, Level: b.Rule.Severity, Message: sarifText{resultMessage(b.Rule, f)},
					Locations:    []sarifLocation{sarifAt(s, f, wd)},
					Fingerprints: map[string]string{fingerprintName: b.Fingerprint(i)},
				})
			}
			if rest := b.Count - int64(len(b.Places)); rest > 0 {
				notify(sarifNotification{"note", sarifText{fmt.Sprintf("%s: %s: %d more in %s", b.Rule.ID, b.Rule.Title, rest, slashPath(s.Path, wd))}, nil})
			}
		}
	}
	return sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{run}}
}

func sarifRuleOf(r *rule.Rule) sarifRule {
	return sarifRule{
		ID: r.ID, Short: sarifText{r.Title}, Full: sarifText{r.Why}, Help: sarifText{r.Fix},
		Defaults: sarifDefaults{r.Severity}, Properties: sarifTags{slices.Concat([]string{r.Layer.String()}, tagsOf(r))},
	}
}

// tagsOf returns the formats of a rule, or nil if it applies to all.
func tagsOf(r *rule.Rule) []string {
	if slices.Contains(r.Formats, "*") {
		return nil
	}
	return r.Formats
}

// sarifAt returns the location of a finding. Only text files have lines; a
// record of a table has a logical name instead.
func sarifAt(s *check.Store, f rule.Finding, wd string) sarifLocation {
	l := sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{uri(slashPath(s.File(f.At), wd))}}}
	if f.At.Line > 0 {
		l.Physical.Region = &sarifRegion{f.At.Line}
	}
	at := f.At
	at.Line = 0
	if name := addrInFile(at); name != "" {
		l.Logical = []sarifLogical{{name}}
	}
	return l
}

// resultMessage returns a message that is clear without the table of rules.
func resultMessage(r *rule.Rule, f rule.Finding) string {
	if what := detail(f); what != "" {
		return r.Title + ": " + what
	}
	return r.Title
}
