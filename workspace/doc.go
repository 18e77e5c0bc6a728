// Package workspace is the user's files as the user sees them: one confined
// root, an overlay of the buffers that are open in an editor, hashes, line
// endings, encodings, text edits, and multi-file changes that are applied all
// or nothing and can be undone.
//
// Call [Open] first, and [Workspace.Recover] where something will be written:
// it settles what a process that died left half done. Every path in this
// package is relative to the root and slash-separated; [Workspace.Rel] turns
// what a client sends (relative path, absolute path, file URI) into one or
// refuses it. Offsets are bytes; [Mapper] converts them to the positions of the
// wire.
//
// The package never follows a path out of the root, never touches a path that
// the deny rules name, never writes a file other than by [Workspace.Apply] and
// [Workspace.Undo], and never writes under a document that is open in an
// editor: that one is changed through the editor ([Buffers]).
package workspace
