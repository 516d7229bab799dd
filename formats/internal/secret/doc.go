// Package secret knows what must stay home, takes it out of what a reader
// yields, and puts its traces back.
//
// Three ways lead through a Filter (formats.SecretMode):
//
//   - a store is copied: nothing is touched;
//   - a store becomes text: a marker takes the place of each secret
//     (store.Withheld for a whole cell, Marker for a member of JSON);
//   - text becomes a store: what bears a marker is left out, since a client
//     would take the marker for a key, and every cut is told as residue.
//
// Residue given to the Filter is put back first, so that withholding after
// leaving out gives the same bytes as before. What is secret is data: Rules.
//
// Nothing here ever says what a secret is: notes name the rule and the place.
//
// Not covered: a secret that somebody wrote into a conversation, JSON inside
// a JSON string included. Only the places where clients keep them are.
package secret
