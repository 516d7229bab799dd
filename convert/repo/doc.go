// Package repo makes git print sessions as text, and check them before a commit, in one
// repository: by a textconv driver in its configuration, attributes, and a hook.
package repo
