package session

import (
	"testing"
	"time"
)

func TestFormatMillis(t *testing.T) {
	for _, ms := range []int64{0, 1, -1, 999, 1000, FirstMoment, FirstMoment - 1, lastMilli, lastMilli + 1, firstMilli, firstMilli - 1} {
		if got, want := FormatMillis(ms), time.UnixMilli(ms).UTC().Format(StampLayout); got != want {
			t.Errorf("%d is %s, want %s", ms, got, want)
		}
	}
	if got := FormatMillis(FirstMoment); got != "2020-01-01T00:00:00.000Z" {
		t.Errorf("the first moment is %s", got)
	}
}
