// Package check runs every kind of rule over a workspace once: pattern rules
// and Konveyor's rulesets, in one list of incidents.
//
// Call [Run]. It only reads. What could not be loaded or looked at is part of
// the [Result], so that a caller can tell it and go on.
package check
