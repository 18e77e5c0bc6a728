// Package agent turns incidents into candidate fixes: it groups them by file,
// tries the rules' recipes first, hands what is left to the model where one is
// configured, validates every candidate on an overlay and scores it by what was
// checked.
//
// Call [New] first, then [Fixer.Fix]. Every incident ends in a [Candidate] or in
// a [Leftover] with its reason. [Fixer.Inspect] is the gate that every fix
// passes, whoever made it; [Fixer.Verify] looks again once a fix is applied. A
// [ModelEngine] plugs the model in.
//
// Nothing here writes to the workspace, talks to a client or decides about an
// approval. Results come in the order of the files' paths, whatever the number
// of processors.
package agent
