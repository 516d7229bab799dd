// Package secret knows what must stay home, takes it out of what a reader
// yields, and puts its traces back.
//
// Three ways lead through a Filter (formats.SecretMode):
//
//   - a store is copied: nothing is touched;
//   - a store becomes text: a marker takes the place of each secret
//     (store.Withheld for a whole cell, Marker for a member of JSON);
//   - text becomes a store: what bears a marker is left out, since a client
//     would take the marker for a key, and every cut is told as a sidecar item.
//
// Sidecar items given to the Filter are put back first, so that withholding after
// leaving out gives the same bytes as before. What is secret is data: Rules.
//
// Nothing here ever says what a secret is: notes name the rule and the place.
//
// A file beside the tables cannot be cut: one that holds a secret stays home
// as a whole (Holds).
//
// Two kinds of names are known: those of the clients' own keys (memberNames),
// which are secret wherever they stand, and what names of credentials have in
// common (patterns), which counts where nobody says anything. Not covered: what
// somebody said, a value whose key is its digest, and JSON in a JSON string or in
// UTF-16 bytes, whose members are text like any other.
package secret
