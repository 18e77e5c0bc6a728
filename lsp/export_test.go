package lsp

// Malform is for the tests that send broken frames to a process.
var Malform = malform
