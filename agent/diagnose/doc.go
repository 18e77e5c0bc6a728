// Package diagnose asks a linter or a compiler about a change before it is made:
// a command that the user configured, run in a copy of the workspace.
//
// Make a [Command] by [New]; it is an [agent.Diagnostics]. The command comes from
// the user's own settings only, never from a workspace, a rule or a model; it is
// an argument list and no shell line; it sees a short list of environment
// variables, runs in the copy, and is ended with everything it started when its
// time is over. The workspace itself is never written.
//
// It is no sandbox: the command runs with the user's rights.
package diagnose
