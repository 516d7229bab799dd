package main

import (
	"testing"

	"rehome/testdata/notice"
)

func TestNotice(t *testing.T) { notice.Check(t, "../..", ".", "NOTICE") }
