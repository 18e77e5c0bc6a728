package kaiak

import "reflect"

// An Operation is one row of the operation table, from which the wire's
// methods, the capability list, the JSON schemas and docs/protocol.md are
// derived.
type Operation struct {
	ID      string       // "session.create"
	Method  string       // "kaiak/session/create"
	Aliases []string     // further methods with the same handler
	Summary string       // one sentence
	Params  reflect.Type // a struct with the contract's member names
	Result  reflect.Type
	Since   string // "004" for the frozen contract, "1" for what is added in protocol version 1

	Supported bool
	Reason    string // why not, where Supported is false
}

// Operations returns the operation table in the order of the documentation.
func (s *Service) Operations() []Operation { return nil }

// Capabilities returns capabilities.experimental.kaiak: protocol_version,
// methods, notifications, limits and features.
func (s *Service) Capabilities() map[string]any { return map[string]any{} }
