// Package prompt writes what a model reads: the standing instructions and, for a
// batch of incidents of one file, a bounded context cut by the syntax tree.
//
// Call [Gather] for what other files say about the place, then [Build]. The
// prompt is made of slots, each with its share of the budget; what does not fit
// is dropped in a fixed order and the prompt says so. Its bytes depend on its
// inputs and on nothing else: no time, no random, no map order.
//
// What comes from files, rules and diagnostics is fenced with a mark that its
// author cannot know, and characters that hide or reorder text are shown as what
// they are. That helps an honest model; safety does not rest on it.
package prompt
