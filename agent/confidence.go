package agent

import (
	"maps"
	"slices"
)

// Scheme names how confidence is computed. A change of a number below changes it.
const Scheme = "kaiak-conf/1"

// A Category says how far a fix reaches, as its rule declares it.
type Category string

// The categories.
const (
	Mechanical Category = "mechanical" // the same text edit wherever it matches
	Local      Category = "local"      // depends on the meaning of the code around it
	CrossFile  Category = "cross-file" // depends on other files
)

// categoryOf reads a rule's category; a rule that declares none, or one that
// the scheme does not know, is taken to be local.
func categoryOf(s string) Category {
	switch Category(s) {
	case Mechanical, Local, CrossFile:
		return Category(s)
	}
	return Local
}

// The names of the checks in [Evidence].Checks, in the order in which they are made.
const (
	CheckApply       = "apply"       // the edits apply
	CheckParse       = "parse"       // the result's syntax errors against the base's
	CheckRule        = "rule"        // the rule that asked for the change, run on the result
	CheckDiagnostics = "diagnostics" // the incident's own source, run on the result
	CheckHygiene     = "hygiene"     // nothing but what was asked for
	CheckLocality    = "locality"    // the edits lie where the incidents are
	CheckContext     = "context"     // whether the model saw all it should (model only)
)

// The outcomes of checks.
const (
	Unchecked    Check = "unchecked"
	ApplyExact   Check = "exact"
	ApplyRelaxed Check = "relaxed"
	ParseOK      Check = "ok"
	ParseWorse   Check = "worse"
	Gone         Check = "gone"        // the rule no longer matches
	Remains      Check = "remains"     // it does
	GoneNoNew    Check = "gone+no-new" // the source no longer reports it and nothing else
	GoneNew      Check = "gone+new"    // it no longer does, but reports something new of low severity
	HygieneOK    Check = "ok"
	HygieneFlag  Check = "flagged"
	InRegion     Check = "in-region"
	OutOfRegion  Check = "out-of-region"
	ContextFull  Check = "full"
	ContextShort Check = "truncated"
)

// A Bucket is what outcomes are counted by. Its zero fields stand for "any".
type Bucket struct {
	Engine   EngineName
	RuleID   string
	Category Category
	Tier     string
}

// Outcomes tells how earlier proposals fared: n of the bucket were decided, k
// of those kept unchanged. A nil Outcomes knows of none.
type Outcomes interface {
	Outcomes(b Bucket) (n, k int)
}

// priors holds p0 by tier and category: how often such a fix is right, judged
// before any outcome was seen.
var priors = map[string]map[Category]float64{
	"R1": {Mechanical: .97, Local: .93, CrossFile: .85},
	"R2": {Mechanical: .92, Local: .85, CrossFile: .70},
	"R3": {Mechanical: .75, Local: .65, CrossFile: .50},
	"L1": {Mechanical: .85, Local: .70, CrossFile: .45},
	"L2": {Mechanical: .55, Local: .40, CrossFile: .25},
	"L3": {Mechanical: .25, Local: .20, CrossFile: .10},
}

// The rest of the scheme's numbers.
const (
	relaxedFactor  = .9
	repairFactor   = .9
	hygieneFactor  = .85
	localityFactor = .85
	newLowFactor   = .6
	filesFactor    = .9
	truncatedCap   = .3
	floor, ceiling = .05, .99
	priorWeight    = 20 // m: how many outcomes the prior is worth
	backoffBelow   = 5  // n under which a wider bucket is asked
)

// inputs is what confidence depends on beside the checks.
type inputs struct {
	engine   EngineName
	ruleID   string
	category Category
	files    int
	repairs  int
}

// tierOf returns the first tier whose evidence the checks satisfy.
func tierOf(engine EngineName, checks map[string]Check) string {
	parsed := checks[CheckParse] == ParseOK
	diagnosed := checks[CheckDiagnostics] == GoneNoNew || checks[CheckDiagnostics] == GoneNew
	if engine == Recipe {
		switch {
		case parsed && diagnosed:
			return "R1"
		case parsed && checks[CheckRule] == Gone:
			return "R2"
		}
		return "R3"
	}
	switch {
	case parsed && diagnosed && checks[CheckApply] == ApplyExact && checks[CheckHygiene] == HygieneOK:
		return "L1"
	case parsed:
		return "L2"
	}
	return "L3"
}

// score computes the confidence that a candidate, applied unchanged, removes
// what it claims, adds nothing, and is kept. It is a function of the checks and
// of counted outcomes only: what a model says about itself is no evidence.
func score(in inputs, checks map[string]Check, past Outcomes) (float64, Evidence) {
	ev := Evidence{Scheme: Scheme, Tier: tierOf(in.engine, checks), Checks: maps.Clone(checks)}
	p := priors[ev.Tier][in.category]
	if checks[CheckApply] == ApplyRelaxed {
		p *= relaxedFactor
	}
	for range in.repairs {
		p *= repairFactor
	}
	if checks[CheckHygiene] == HygieneFlag {
		p *= hygieneFactor
	}
	if checks[CheckLocality] == OutOfRegion {
		p *= localityFactor
	}
	if checks[CheckDiagnostics] == GoneNew {
		p *= newLowFactor
	}
	if in.files > 1 {
		p *= filesFactor
	}
	top := ceiling
	if checks[CheckContext] == ContextShort {
		top = truncatedCap
	}
	p = min(p, top)
	ev.Prior = p
	ev.N, ev.K = observed(in, ev.Tier, past)
	p = (float64(ev.K) + priorWeight*p) / (float64(ev.N) + priorWeight)
	return max(floor, min(p, top)), ev
}

// observed counts outcomes in the narrowest bucket that has enough of them:
// the rule, else its category, else the tier.
func observed(in inputs, tier string, past Outcomes) (n, k int) {
	if past == nil {
		return 0, 0
	}
	buckets := []Bucket{
		{Engine: in.engine, RuleID: in.ruleID, Tier: tier},
		{Engine: in.engine, Category: in.category, Tier: tier},
		{Engine: in.engine, Tier: tier},
	}
	if in.ruleID == "" {
		buckets = buckets[1:]
	}
	for _, b := range buckets {
		if n, k = past.Outcomes(b); n >= backoffBelow {
			break
		}
	}
	// A store that counts wrongly must not push p out of [0, 1].
	n = max(n, 0)
	return n, max(0, min(k, n))
}

// hardStops are the outcomes with which there is no candidate at all.
var hardStops = map[string][]Check{
	CheckParse:       {ParseWorse},
	CheckRule:        {Remains},
	CheckDiagnostics: {Remains},
}

// stopped returns the check that forbids a candidate, in the order of the checks.
func stopped(checks map[string]Check) (name string, stop bool) {
	for _, name := range []string{CheckParse, CheckRule, CheckDiagnostics} {
		if slices.Contains(hardStops[name], checks[name]) {
			return name, true
		}
	}
	return "", false
}
