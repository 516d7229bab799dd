package lineclient

import "testing"

func TestUnpair(t *testing.T) {
	for in, want := range map[string]string{
		`"\ud83d\ude00"`:         `"\ud83d\ude00"`,
		`"a \ud83d b"`:           `"a \ufffd b"`,
		`"\ude00\ud83d"`:         `"\ufffd\ufffd"`,
		`"\uD83D\ud83d\uDE00"`:   `"\ufffd\ud83d\uDE00"`,
		`"\\ud83d"`:              `"\\ud83d"`,
		`"\\\ud83d\n"`:           `"\\\ufffd\n"`,
		`"\u00e9 \ud7ff \ue000"`: `"\u00e9 \ud7ff \ue000"`,
		`"\ud83d`:                `"\ufffd`,
		`"\ud8`:                  `"\ud8`,
	} {
		line := []byte(in)
		if found := unpair(line); string(line) != want || found != (in != want) {
			t.Errorf("%s: got %s, %t; want %s", in, line, found, want)
		}
	}
}
