// Package udiff goes between the two ways in which an edit is told: what a file
// held before and after, and the changed lines with some around them.
package udiff
