package forks

import "testing"

func TestRename(t *testing.T) {
	ids := map[string]string{"a-1": "b-2", "run": "other"}
	for line, want := range map[string]string{
		`{"id":"a-1","x":["a-1",{"a-1":"run"}]}`:     `{"id":"b-2","x":["b-2",{"b-2":"other"}]}`,
		`{"text":"say \"a-1\"","y":"a-1 "}`:          `{"text":"say \"a-1\"","y":"a-1 "}`,
		`{"text":"a-1","content":["a-1"],"z":"run"}`: `{"text":"a-1","content":["a-1"],"z":"other"}`,
		`{"z":"\"a-1"}`:          `{"z":"\"a-1"}`,
		`not JSON "a-1"`:         `not JSON "a-1"`,
		`{"id":"a-1","torn":"a-`: `{"id":"b-2","torn":"a-`,
		"":                       "",
	} {
		if got := string(Rename(nil, []byte(line), ids)); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

func TestRetitle(t *testing.T) {
	for line, want := range map[string]string{
		`{"a":1,"name":"One \"x\"","b":2}`: `{"a":1,"name":"One \"x\" (fork)","b":2}`,
		`{"name":"One (fork)"}`:            `{"name":"One (fork)"}`,
		`{"name":null}`:                    `{"name":"given (fork)"}`,
		`{"name":"","z":{"name":"in"}}`:    `{"name":"given (fork)","z":{"name":"in"}}`,
		`{"z":{"name":"in"}}`:              "",
		`[1]`:                              "",
	} {
		got, titled := Retitle([]byte(line), "name", "given")
		if want == "" && (titled || string(got) != line) || want != "" && (!titled || string(got) != want) {
			t.Errorf("%s: %s, %v, want %s", line, got, titled, want)
		}
	}
	if got, titled := Retitle([]byte(`{"name":null}`), "name", ""); titled || string(got) != `{"name":null}` {
		t.Errorf("%s, %v", got, titled)
	}
}

func TestKey(t *testing.T) {
	line := []byte(`{"a":"1","b":2,"c":"3"}`)
	if Key(line, "a", "b") == Key(line, "b", "a") || Key(line, "a", "b") != Key([]byte(`{"b":2,"a":"1"}`), "a", "b") {
		t.Error("keys do not tell lines apart")
	}
	if Key(line, "a", "d") != string(line) {
		t.Error("a line without its key is not its own")
	}
}
