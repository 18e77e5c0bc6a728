// Package fakeeditor is an editor for tests: it speaks the real protocol to a
// real server, in this process or in a child, and behaves as the editors of its
// [Profiles] were seen to.
//
// Call [Open] first: it writes a txtar archive into a directory, starts the
// server and makes the handshake. [Editor.OpenFile], [Editor.Replace],
// [Editor.Save] and [Editor.CloseFile] do what a user does;
// [Editor.CodeActions], [Editor.Choose] and [Editor.Execute] what a user
// chooses. What comes back later is awaited with [Editor.Await] and
// expectations; nothing sleeps.
//
// Every message passes a [wirecheck.Checker]; its faults fail the test when the
// editor is closed.
package fakeeditor
