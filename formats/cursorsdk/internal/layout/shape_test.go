package layout

import (
	"testing"

	"rehome/formats/internal/sqlitestore"
)

// TestOwnDatabases: of what lies below a state root only what the SDK puts
// there is the SDK's.
func TestOwnDatabases(t *testing.T) {
	for rel, want := range map[string]bool{
		"index.db": true, "agents/agent-ab/store.db": true, "agents/ab/store.db": true, "sdk-agent-store/x/index.db": false,
		"store.db": false, "agents/store.db": false, "agents/index.db": false, "agents/a/b/store.db": false, "chats/ab/cd/store.db": false, "more/agents/a/store.db": false,
	} {
		if got := Shape(false).Use(rel) == sqlitestore.Database; got != want {
			t.Errorf("%s: %v", rel, got)
		}
		if got := Shape(true).Use("sdk-agent-store/x/"+rel) == sqlitestore.Database; got != want {
			t.Errorf("%s in a project: %v", rel, got)
		}
		if TextShape(false).Use(rel) != sqlitestore.Database {
			t.Errorf("%s of an earlier version is not restored", rel)
		}
	}
}
