// Package tracer runs a command and all its children, counts the system calls
// by which they change files below some folders, and kills the process that is
// about to make the n-th of them, or has it fail.
//
// strace counts the calls of each thread for itself, which enumerates a process
// of one thread only. This package counts those of all threads and processes in
// the one order in which they happen, so that n = 1…N names every state of the
// disk that one schedule of a whole server goes through.
//
// A process can be traced by one thread only, and waiting for it would take the
// children of others. So the tracer is a process of its own: the test binary
// again. Call [Main] first in TestMain, and [Plan.Command] for a command to
// start. What happened is read with [ReadReport] once it has ended.
//
// The package needs Linux on amd64 and the right to trace; [Supported] says
// whether it has them.
package tracer
