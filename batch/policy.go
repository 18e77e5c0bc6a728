package batch

import "fmt"

// A Policy says which proposals a batch approves by itself.
type Policy string

// The policies.
const (
	// Recipes approves what a rule made; every such proposal passed the gate.
	Recipes Policy = "recipes"
	// Validated also approves a model's fix that passed every check: it applies
	// exactly, parses, removes the incident, adds none, and touches nothing else.
	Validated Policy = "validated"
	// None approves nothing: every proposal stays pending.
	None Policy = "none"
)

// ParsePolicy reads a policy by its name.
func ParsePolicy(name string) (Policy, error) {
	switch p := Policy(name); p {
	case Recipes, Validated, None:
		return p, nil
	}
	return "", fmt.Errorf("the approval policy is recipes, validated or none, not %q", name)
}

// approves reports whether the policy approves a proposal, or why not. What the
// server wants a person to decide, no policy does.
func (p Policy) approves(q *proposal) (ok bool, reason string) {
	switch {
	case p == None:
		return false, "the policy none approves nothing"
	case q.Asks != "":
		return false, q.Asks
	case q.Source == recipe:
		return true, ""
	case p == Recipes:
		return false, "the policy recipes approves what rules make, and a model made this one"
	case q.Evidence.Tier == "L1":
		return true, ""
	}
	return false, fmt.Sprintf("the policy validated approves a model's fix that passed every check, and this one has the tier %s", q.Evidence.Tier)
}
