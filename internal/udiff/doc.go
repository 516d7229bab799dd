// Package udiff converts between the two forms of an edit: the text before and
// after it, and the changed lines with some context, as in a unified diff.
package udiff
