// Package check finds out what is wrong with stores, and changes nothing.
//
// [Check] runs the rules of each store's format: codecs report the findings about
// their stores (see formats.Format.Check). Files beside stores, sidecars, losses in
// another client and secrets are checked here, and the store that a text was made
// from is restored and checked, too. [Schema] validates files against any schema. A
// [Baseline] lists the findings that are known, and do not count.
package check
