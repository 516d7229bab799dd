package sdkwrite

import (
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// TestAgentID: an agent of the SDK keeps its id, unless the SDK could not find it by that.
func TestAgentID(t *testing.T) {
	for _, id := range []string{"", ".", "..", "bc-1", "a\x00b"} {
		h := session.Head{ID: id, Agent: session.CursorSDK}
		if got := AgentID(&h); !strings.HasPrefix(got, "agent-") || got != AgentID(&h) {
			t.Errorf("%q becomes %q", id, got)
		}
	}
	for _, id := range []string{"a", "a/../b", "...", "agent-1", "\x1b"} {
		if got := AgentID(&session.Head{ID: id, Agent: session.CursorSDK}); got != id {
			t.Errorf("%q becomes %q", id, got)
		}
	}
}

// TestMetadataTwice: a member that a session has twice is written once, which is a loss.
func TestMetadataTwice(t *testing.T) {
	var losses loss.Log
	a := &agent{id: "a", build: formats.SessionBuild{OnLoss: losses.Add}, s: session.Session{Head: session.Head{ID: "a", Agent: session.CursorSDK}, Extras: []session.Extra{
		{Name: "sdkMetadata.k", Raw: session.Raw(`1`)}, {Name: "sdkMetadata.k", Raw: session.Raw(`2`)}, {Name: "sdkMetadata.l", Raw: session.Raw(`3`)},
	}}}
	if got := string(a.metadata(nil)); got != `{"k":1,"l":3}` {
		t.Error(got)
	}
	if losses.Worst() == 0 {
		t.Error("no loss")
	}
}
