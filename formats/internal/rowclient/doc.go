// Package rowclient is the kit for clients whose sessions are rows of a database, or other
// values that are no lines of a file: a codec opens its [Store], which lists sessions and makes
// of the rows of each one records, objects of JSON in the order of the conversation. From there
// on they are read as package lineclient reads lines: by the same table of kinds, with the same
// account, branches and compactions.
package rowclient
