package claude

import (
	"rehome/formats/loss"
	"rehome/formats/store"
)

// losses are what a layout cannot hold, or what is not read from one.
type losses struct{ loss.Log }

func (l *losses) add(code loss.Code, place string) {
	l.Add(loss.Loss{Code: code, At: store.Addr{File: place}})
}
