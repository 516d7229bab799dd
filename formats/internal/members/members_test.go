package members

import (
	"slices"
	"strconv"
	"testing"

	"rehome/formats/session"
)

func TestSplit(t *testing.T) {
	var o Object
	names := []string{"a", "t", "n", "s", "f"}
	if !o.Split([]byte(`{"x":1,"a":"ä","a":"\u00e4","n":7,"t":"2026-01-01T00:00:00.001Z","s":[1],"f":true,"blobEncryptionKey":"00"}`), "p.", names) {
		t.Fatal("no object")
	}
	if o.Text(0) != "ä" || o.Stamp(1) != session.Stored(1767225600001) || o.Int(2, -1) != 7 || o.Text(3) != "" || !o.Flag(4) {
		t.Error(o.Text(0), o.Stamp(1), o.Int(2, -1), o.Text(3), o.Flag(4))
	}
	var got []string
	for _, e := range o.Extras {
		got = append(got, e.Name+"="+string(e.Raw))
	}
	if want := []string{"p.x=1", `p.a="ä"`, "p.s=[1]"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if o.Count != 8 {
		t.Error(o.Count)
	}
	if o.Split([]byte(`[1]`), "", names) || o.Split(nil, "", names) {
		t.Error("what is no object was taken for one")
	}
}

func TestStamp(t *testing.T) {
	for text, want := range map[string]string{"1.5": "1 a=1.5", "12": "12", `"x"`: `0 a="x"`, "1e3": "1000 a=1e3", "null": "0", "1e300": "0 a=1e300"} {
		var o Object
		o.Split([]byte(`{"a":`+text+`}`), "", []string{"a"})
		s := o.Stamp(0)
		got := strconv.FormatInt(s.Millis(), 10)
		for _, e := range o.Extras {
			got += " " + e.Name + "=" + string(e.Raw)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestBare(t *testing.T) {
	if got := Bare("m", []byte(`{"blobEncryptionKey":"k","a":1}`)); string(got) != `{"a":1}` {
		t.Errorf("%s", got)
	}
	if got := Bare("blobEncryptionKey", []byte(`"k"`)); got != nil {
		t.Errorf("%s", got)
	}
}

func TestTable(t *testing.T) {
	table := NewTable([]string{"a", "", "n"}, "idle", "full")
	table.Own = true
	var o Object
	if !o.SplitBy([]byte(`{"n":null,"idle":[],"full":1,"a":"x","a":"y","accessToken":"secret","":0}`), "p.", table) {
		t.Fatal("no object")
	}
	if o.Name(0) != "a" || o.Text(0) != "y" || !o.Stated(2) || o.Has(2) || o.Stated(1) || !o.Kept("full") || o.Kept("idle") {
		t.Errorf("%+v", o.Extras)
	}
	o.Set(2, []byte("7"))
	if n, ok := o.Whole(2); !ok || n != 7 || o.Full(2) == nil {
		t.Error(n, ok)
	}
	o.KeepFull(0, 1, 2)
	var got []string
	var account session.Account
	for _, e := range o.Settle(&account) {
		got = append(got, e.Name+"="+string(e.Raw))
	}
	if want := []string{"p.full=1", `p.a="x"`, "p.=0", `p.a="y"`, "p.n=7"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if want := (session.Account{Members: 7, MembersConverted: 2, MembersRaw: 5}); account != want {
		t.Errorf("%+v, want %+v", account, want)
	}
}
