// Command interop is the part of `make interop` that is written in Go: it makes
// stores at random, and puts a client in front of a terminal.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
)

// main takes a word and what belongs to it:
//
//	stores DIR COUNT  many small sessions at random, in every kind of store
//	                  that a generator knows; told is where they are
//	terminal          a job as JSON on standard input, see terminal.go
func main() {
	var out any
	err := fmt.Errorf("want stores or terminal, got %q", os.Args[1:])
	switch args := os.Args[1:]; {
	case len(args) == 3 && args[0] == "stores":
		var count int
		if count, err = strconv.Atoi(args[2]); err == nil {
			out, err = stores(args[1], count)
		}
	case len(args) == 1 && args[0] == "terminal":
		var j job
		if err = json.NewDecoder(os.Stdin).Decode(&j); err == nil {
			out, err = j.run()
		}
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "interop:", err)
		os.Exit(1)
	}
}
