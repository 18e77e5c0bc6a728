// Package agent turns incidents into candidate fixes: it groups them by file,
// tries the rules' recipes first, hands what is left to the model where one is
// configured, validates every candidate on an overlay and scores it by what was
// checked.
//
// Call [New] first, then [Fixer.Fix]. Nothing here writes to the workspace,
// talks to a client or decides about an approval: a [Candidate] is the end of
// its work.
package agent
