// Package idegen makes stores of the Cursor IDE at random, of any generation
// and any mixture of them, and says what sessions they hold. Each text has a
// mark of its own, tk<number>x, so that what is lost in silence can be found;
// members that no client ever wrote stand at every level.
//
// It spells keys and JSON by itself, from the published facts: it does not know
// the codec that it is to judge.
package idegen
