// Package incidents is the incident: one place in the user's code that a
// migration has to change, whoever found it.
//
// It holds the model with the contract's field names ([Incident]), the identity
// that survives edits above it and a move of the workspace ([Identify]), the
// converters in (LSP diagnostics, SARIF 2.1.0, Konveyor analysis) and out
// (SARIF, Konveyor), the [Index] by file, rule and severity that carries
// incidents through edits, and the watcher of analysis files.
//
// It never decides what to do about an incident, never writes, and a record it
// cannot read costs only itself: it is reported as a [Problem] with its position.
package incidents
