// Package cassette records what an endpoint answers and replays it, so that a run
// can be repeated byte for byte without a network.
//
// [Open] gives a wrapper for [llm.Options].Transport. A recording is found by the
// canonical JSON of the request, never by its place in the run, so that the same
// work in another order finds the same answers. In replay mode nothing is ever
// sent: a request without a recording is an error that names the nearest
// recording and what differs.
package cassette
