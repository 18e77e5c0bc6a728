// Package realinput holds the tests that run the real binary over code nobody
// here wrote: modules that this project depends on, as they lie in the module
// cache, and Go's own source tree, always on copies in a temporary folder.
//
// What they hold Kaiak to: every incident is fixed or refused with a stated
// reason, the result builds, no file becomes unformatted, and a second run
// finds only what was refused and changes no byte. Input that is missing is
// skipped with a message. There is no code here but tests.
package realinput
