package leaves

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Transforms lists how a value can be derived from a leaf. The law computes it.
//
//	json    JSON in a string: each of its leaves arrives
//	time    a time, in milliseconds or as ISO 8601
//	later   a time, or less than a second after it
//	base64  bytes in that spelling
//	dataurl a data URL of bytes, or the bytes of one
//	fileuri a file URI of a path, or the path of one
//	within  a part of a text
//	joined  one of several texts that are joined, with white space between them
//	tagged  several texts with tags around them, and [Image] for what is no text
//	mixed   several texts in any order, with white space between them
//	members JSON in a string, each of whose values stands by itself
//	trimmed a text without the white space around it
//	letters a text without white space and control characters
//	hex     bytes in hex, or what is in hex
//	field   a number or a flag, as a message of protobuf has it
//	flag    true for the number 1
//	name    the name of a member, for the key of a map
//	as:a.b  the same, under that path of the target; a.** is anything below a with the last name, or that of an extra
//	time@b.c    a time, and only under that path of the target, or at record/b.c; so with the others
//	is:1=a  the word for a number, a word in capitals or another one; several are separated by commas
func Transforms() []string {
	return []string{"json", "time", "later", "base64", "dataurl", "fileuri", "within", "joined", "tagged", "mixed", "members", "trimmed", "letters", "hex", "field", "flag", "name"}
}

// wordOf returns the word of a transform such as is:1=agent,2=ask for a value, "" if it has none.
func wordOf(how, value string) string {
	table, _ := strings.CutPrefix(how, "is:")
	for pair := range strings.SplitSeq(table, ",") {
		if from, to, _ := strings.Cut(pair, "="); from == value {
			return to
		}
	}
	return ""
}

// unpack appends a leaf, or the leaves of the JSON in it.
func unpack(list []Leaf, l Leaf) ([]Leaf, bool) {
	if l.Bytes || l.Value == "" || !strings.Contains(`{["`, l.Value[:1]) {
		return append(list, l), false
	}
	n, err := Parse([]byte(l.Value))
	if err != nil {
		return append(list, l), false
	}
	return n.Leaves(list, l.Path), true
}

// derivedKeys returns the keys of what a leaf is another form of.
func derivedKeys(how string, l Leaf) (out []string) {
	value := l.Value
	if strings.HasPrefix(how, "as:") {
		if l.Bytes {
			out = append(derivedKeys("base64", l), asText+value)
		}
		return append(out, l.key())
	}
	if strings.HasPrefix(how, "is:") {
		if word := wordOf(how, value); word != "" {
			out = append(out, asText+word)
		}
		return out
	}
	switch how {
	case "time":
		value = strings.TrimPrefix(value, "~") // before an inferred time of canonical
		t, err := time.Parse(time.RFC3339Nano, value)
		if n, e := strconv.ParseInt(value, 10, 64); e == nil {
			t, err = time.UnixMilli(n), nil
		}
		if ms := strconv.FormatInt(t.UnixMilli(), 10); err == nil {
			out = append(out, asTime+ms, asText+ms)
		}
	case "later":
		n, _ := strconv.ParseInt(value, 10, 64)
		for ms := range int64(1000) {
			out = append(out, asTime+strconv.FormatInt(n+ms, 10))
		}
	case "base64":
		if l.Bytes {
			out = append(out, asText+base64.StdEncoding.EncodeToString([]byte(value)))
		} else if b, err := base64.StdEncoding.DecodeString(value); err == nil {
			out = append(out, asBytes+string(b), asText+string(b))
		}
	case "dataurl":
		for _, kind := range []string{"png", "jpeg", "gif", "webp"} {
			if l.Bytes {
				out = append(out, asText+"data:image/"+kind+";base64,"+base64.StdEncoding.EncodeToString([]byte(value)))
			}
		}
		head, data, _ := strings.Cut(value, ";base64,")
		if b, err := base64.StdEncoding.DecodeString(data); err == nil && strings.HasPrefix(head, "data:") {
			out = append(out, asBytes+string(b))
		}
	case "fileuri":
		if u, err := url.Parse(value); err == nil && u.Scheme == "file" {
			out = append(out, asText+u.Path)
		} else if strings.HasPrefix(value, "/") {
			out = append(out, asText+(&url.URL{Scheme: "file", Path: value}).String())
		}
	case "trimmed":
		out = append(out, asText+strings.TrimSpace(value))
	case "hex":
		if l.Bytes {
			out = append(out, asText+hex.EncodeToString([]byte(value)))
		} else if b, err := hex.DecodeString(value); err == nil {
			out = append(out, asBytes+string(b))
		}
	case "field":
		if value == "true" {
			value = "1"
		}
		out = append(out, asText+value)
	case "flag":
		if value == "1" {
			out = append(out, asText+"true")
		}
	case "name":
		out = append(out, asName+value)
	}
	return out
}

// gap stands in what is left of a text for each part of it that was found.
const gap = "…"

var lastWord, firstWord = regexp.MustCompile(`[A-Za-z0-9]$`), regexp.MustCompile(`^[A-Za-z0-9]`)

// inside takes a text out of what is left of one that is said: a short one if it is a word there.
func inside(pools []*pool, value string, ok func(*offer) bool) *offer {
	for _, p := range pools {
		for _, o := range p.texts {
			before, after, found := strings.Cut(o.text, value)
			if !found || !ok(o) || len(value) < short && (lastWord.MatchString(before) || firstWord.MatchString(after)) {
				continue
			}
			o.text = before + gap + after
			return o
		}
	}
	return nil
}

// joined takes the first of some texts from the front of what is left of one that is said, or from
// its end: of several the one in which most of the others follow. White space can be there.
func joined(pools []*pool, values []string, ok func(*offer) bool) *offer {
	for _, cut := range []func(s, part string) (string, bool){strings.CutPrefix, strings.CutSuffix} {
		most, left := 0, ""
		var best *offer
		for _, p := range pools {
			for _, o := range p.texts {
				if !ok(o) {
					continue
				}
				if n, rest := follow(o.text, values, cut); n > most {
					best, most, left = o, n, rest
				}
			}
		}
		if best != nil {
			best.text = left
			return best
		}
	}
	return nil
}

// follow cuts pieces from a text, one after the other. It returns how long they are, and what the
// first leaves.
func follow(text string, values []string, cut func(s, part string) (string, bool)) (n int, rest string) {
	for i, v := range values {
		after, found := cut(text, v)
		if !found {
			after, found = cut(strings.TrimSpace(text), v)
		}
		if !found {
			return n, rest
		}
		if text = after; i == 0 {
			rest = after
		}
		n += len(v)
	}
	return n, rest
}

// lettersOf leaves out white space and control characters.
func lettersOf(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}

// lettered finds a text that has the same letters.
func lettered(pools []*pool, value string, ok func(*offer) bool) *offer {
	value = lettersOf(value)
	for _, p := range pools {
		for _, o := range p.texts {
			if !o.used && ok(o) && lettersOf(o.text) == value {
				return o
			}
		}
	}
	return nil
}

// tag is what stands around the texts that tagged takes apart.
var tag = regexp.MustCompile(`</?[A-Za-z][A-Za-z0-9_-]*(?: [^<>]*)?>|\[Image\]|\s+`)

// tagged finds the texts that a text is made of, in their order: what is left of it are tags.
func tagged(pools []*pool, value string, ok func(*offer) bool) (out []*offer) {
	var rest strings.Builder
	for _, p := range pools {
		for _, o := range p.texts {
			at := -1
			if !o.used && ok(o) {
				at = strings.Index(value, o.text)
			}
			if at < 0 {
				continue
			}
			rest.WriteString(value[:at] + "\n")
			value = value[at+len(o.text):]
			out = append(out, o)
		}
	}
	rest.WriteString(value)
	if strings.Trim(tag.ReplaceAllString(rest.String(), ""), " \n") != "" {
		return nil
	}
	return slices.Clip(out)
}

// valuesOf finds the values of a text that is JSON.
func valuesOf(pools []*pool, value string) (out []*offer) {
	n, err := Parse([]byte(value))
	if err != nil {
		return nil
	}
	for _, l := range n.Leaves(nil, "") {
		o := find(pools, asText+scrubbed(l.Value), func(o *offer) bool { return !slices.Contains(out, o) })
		if o == nil {
			return nil
		}
		out = append(out, o)
	}
	return out
}

// mixed finds the texts that a text is made of, in any order.
func mixed(pools []*pool, value string, ok func(*offer) bool) (out []*offer) {
	var list []*offer
	for _, p := range pools {
		for _, o := range p.texts {
			if !o.used && o.text != "" && ok(o) {
				list = append(list, o)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *offer) int { return len(b.text) - len(a.text) })
	for _, o := range list {
		if before, after, found := strings.Cut(value, o.text); found {
			value, out = before+"\n"+after, append(out, o)
		}
	}
	if strings.TrimSpace(value) != "" {
		return nil
	}
	return out
}
