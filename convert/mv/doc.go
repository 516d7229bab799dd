// Package mv makes the sessions of a project folder that was moved available at its new
// path, in the clients that keep them.
//
// [Move] copies: each client's format finds what the client keeps of the folder, and writes
// copies that differ in nothing but the folder (see formats.Mover). The copies are staged
// beside their places, decoded again and compared with the originals, and renamed into
// place after an undo record of them is on disk. A session is complete, or absent.
//
// The originals stay until [Remove], which removes those that are as they were when they
// were copied, and keeps them in an undo record of its own.
//
// A client that has one store for all folders cannot keep both. There, the sessions are
// filed under the new folder in place (see formats.Refiler), after an undo record of what
// names the old one. Remove has nothing to do with them.
package mv
