// Package incidents is the incident: one place in the user's code that a
// migration has to change, whoever found it.
//
// It holds the model with the contract's field names ([Incident]), the identity
// that survives edits above it and a move of the workspace ([Identify]), the
// converters, the [Index] by file, rule, severity and source that carries
// incidents through edits, and the [Watcher] of analysis files.
//
// Call [Read] first for an analysis file of any format (SARIF 2.1.0, Konveyor,
// golangci-lint, ESLint, our own), [FromDiagnostics] for what a language server
// reports. [WriteSARIF], [WriteKonveyor], [WriteNative] and [WriteText] are the
// ways out.
//
// The package never decides what to do about an incident, never writes into the
// workspace, and a record it cannot read costs only itself: it is reported as a
// [Problem] with its position.
package incidents
