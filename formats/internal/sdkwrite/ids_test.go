package sdkwrite

import (
	"strings"
	"testing"

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
