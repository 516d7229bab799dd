package formats_test

import (
	"strings"
	"testing"

	"rehome/formats"
)

func TestIsUUID(t *testing.T) {
	const id = "01234567-89ab-cdef-ABCD-EF0123456789"
	if !formats.IsUUID(id) {
		t.Errorf("%q is not a UUID", id)
	}
	for i := range id {
		for _, c := range "-/:@G`g\x01\x10[" {
			if bad := id[:i] + string(c) + id[i+1:]; bad != id && formats.IsUUID(bad) {
				t.Errorf("%q is a UUID", bad)
			}
		}
	}
	for _, bad := range []string{"", id[1:], id + "0", strings.ReplaceAll(id, "-", ""), "agent-" + id} {
		if formats.IsUUID(bad) {
			t.Errorf("%q is a UUID", bad)
		}
	}
}
