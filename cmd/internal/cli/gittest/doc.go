// Package gittest tests the program together with git: drivers, hooks, and merges that conflict.
package gittest
