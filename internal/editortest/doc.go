// Package editortest holds the tests that run real editors over the real
// binary: Neovim without any of our code, Neovim with the plugin, Emacs with
// eglot, and VS Code with the extension. Every message of the server is
// recorded on the way and judged afterwards.
//
// The editors are found by environment variables, which .ci/tools writes into
// build/tools/env; a test whose editor is missing skips and says so. There is
// no code here but tests.
package editortest
