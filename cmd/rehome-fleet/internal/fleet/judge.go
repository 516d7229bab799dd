package fleet

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"
)

// result is what is common to the results of the commands.
type result struct {
	Error struct {
		Message string `json:"message"`
	} `json:"error"`
	Checked []struct {
		Findings []struct {
			Rule     string `json:"rule"`
			Severity string `json:"severity"`
			Layer    string `json:"layer"`
			Count    int64  `json:"count"`
		} `json:"findings"`
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	} `json:"checked"`
}

// maxDetail is the max length of the detail of an outcome.
const maxDetail = 500

func clip(text string) string {
	if len(text) > maxDetail {
		text = strings.ToValidUTF8(text[:maxDetail/2], "") + "..." + strings.ToValidUTF8(text[len(text)-maxDetail/2:], "")
	}
	return text
}

var hot = regexp.MustCompile(`\.(db|vscdb)-(wal|journal)$`)

// judge sets the outcome of a store from what its process left.
func judge(r *StoreReceipt, c childResult, s Store) {
	r.Exit = max(c.exit, 0)
	if c.limit != "" {
		r.Outcome, r.Exit, r.Detail = poison, 0, c.limit
		return
	}
	logged := false
	for _, m := range s.Members {
		logged = logged || hot.MatchString(m.Key) && m.Size > 0
	}
	var res result
	_ = json.Unmarshal(c.json, &res) // a result of another shape has none of these members
	message, container := res.Error.Message, false
	for _, one := range res.Checked {
		message = cmp.Or(message, one.Error.Message)
		for _, f := range one.Findings {
			if r.Findings == nil {
				r.Findings = map[string]int64{}
			}
			r.Findings[f.Severity] += f.Count
			container = container || f.Layer == "container" && f.Severity == "error"
		}
	}
	message = clip(message)
	corrupt := strings.Contains(message, "malformed") || strings.Contains(message, "corrupt")
	switch {
	case c.exit == 5 || logged && (container || c.exit == 1 && corrupt):
		r.Outcome, r.Detail = torn, cmp.Or(message, "the database does not match its log")
	case c.exit == 0:
		r.Outcome = ok
	case c.exit == 3:
		r.Outcome, r.Detail = losses, message
	case c.exit == 4:
		r.Outcome = findings
	default:
		r.Outcome, r.Detail = refused, message
	}
}
