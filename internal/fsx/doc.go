// Package fsx compares files, and renames them without ever overwriting one.
package fsx
