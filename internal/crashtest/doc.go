// Package crashtest kills, starves and cheats whole processes of the real
// program and looks at what is left: a batch and its server at every one of
// their changes to the disk, two processes on one workspace, a server whose
// client is gone, a server that is sent nonsense, a fix that is cancelled.
// docs/reliability.md says what is promised and which test here proves it.
//
// It has tests only, and [tracer] for their processes. KAIAK_RELIABILITY=full
// runs them in full size, KAIAK_RELIABILITY=every at each single system call,
// which takes hours; KAIAK_SEED repeats a sample.
package crashtest
