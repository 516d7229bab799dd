// Package convert carries stores from one format to another and places them.
//
// The lane follows from the two formats. Relatives go by the exact lane:
// records travel straight across, what was written is read again and compared
// with what was read, and only then does anybody see it.
//
// A conversion runs in this order, and stops at the first step that fails:
//
//	paths    where source and target really are; they must not touch
//	plan     which stores lie under the source, and what each becomes
//	staging  a private folder beside the target, on the same disk
//	carry    each store: read, write, let go of the source, read again, compare
//	sync     everything staged is on the disk
//	place    sidecar first, then one rename that cannot overwrite anything
//
// Until the last rename nothing stands at the target's name. One store is the
// unit of all-or-nothing: in a folder of many a bad one is left out and
// reported, the others are placed.
//
// Check is the other thing that is done to stores: it asks each what the rules
// ask of its format, and changes nothing. A codec reports breaches (see
// formats.Format.Check); what lies around stores, what a session would lose on
// its way, and credentials are looked for here, in check_*.go.
package convert
