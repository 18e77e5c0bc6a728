package agent

import (
	"math"
	"math/rand/v2"
	"testing"
)

type counted map[Bucket][2]int

func (c counted) Outcomes(b Bucket) (n, k int) { return c[b][0], c[b][1] }

func TestScoreTable(t *testing.T) {
	full := map[string]Check{CheckApply: ApplyExact, CheckParse: ParseOK, CheckRule: Gone, CheckDiagnostics: GoneNoNew, CheckHygiene: HygieneOK, CheckLocality: InRegion}
	with := func(changes map[string]Check) map[string]Check {
		m := map[string]Check{}
		for k, v := range full {
			m[k] = v
		}
		for k, v := range changes {
			m[k] = v
		}
		return m
	}
	undiagnosed := with(map[string]Check{CheckDiagnostics: Unchecked})
	for _, tt := range []struct {
		name   string
		in     inputs
		checks map[string]Check
		past   Outcomes
		tier   string
		want   float64
	}{
		{"R1", inputs{engine: Recipe, category: Mechanical, files: 1}, full, nil, "R1", .97},
		{"R2", inputs{engine: Recipe, category: Local, files: 1}, undiagnosed, nil, "R2", .85},
		{"R3", inputs{engine: Recipe, category: CrossFile, files: 1}, with(map[string]Check{CheckParse: Unchecked}), nil, "R3", .50},
		{"L1", inputs{engine: Model, category: Mechanical, files: 1}, full, nil, "L1", .85},
		{"L2", inputs{engine: Model, category: Local, files: 1}, undiagnosed, nil, "L2", .40},
		{"L3", inputs{engine: Model, category: Local, files: 1}, with(map[string]Check{CheckParse: Unchecked, CheckDiagnostics: Unchecked}), nil, "L3", .20},
		{"relaxed and flagged", inputs{engine: Recipe, category: Mechanical, files: 1}, with(map[string]Check{CheckApply: ApplyRelaxed, CheckHygiene: HygieneFlag}), nil, "R1", .97 * .9 * .85},
		{"two repairs in two files", inputs{engine: Model, category: Mechanical, files: 2, repairs: 2}, full, nil, "L1", .85 * .9 * .9 * .9},
		{"new diagnostic of low severity", inputs{engine: Recipe, category: Mechanical, files: 1}, with(map[string]Check{CheckDiagnostics: GoneNew}), nil, "R1", .97 * .6},
		{"truncated context caps", inputs{engine: Model, category: Mechanical, files: 1}, with(map[string]Check{CheckContext: ContextShort}), nil, "L1", .3},
		{"outcomes of the rule", inputs{engine: Recipe, ruleID: "r", category: Mechanical, files: 1}, full,
			counted{{Engine: Recipe, RuleID: "r", Tier: "R1"}: {20, 5}}, "R1", (5 + 20*.97) / 40},
		{"too few outcomes back off to the category", inputs{engine: Recipe, ruleID: "r", category: Mechanical, files: 1}, full,
			counted{{Engine: Recipe, RuleID: "r", Tier: "R1"}: {4, 0}, {Engine: Recipe, Category: Mechanical, Tier: "R1"}: {10, 10}}, "R1", (10 + 20*.97) / 30},
		{"never certain", inputs{engine: Recipe, category: Mechanical, files: 1}, full, counted{{Engine: Recipe, Tier: "R1"}: {100000, 100000}}, "R1", .99},
		{"never hopeless", inputs{engine: Model, category: CrossFile, files: 1}, full, counted{{Engine: Model, Tier: "L1"}: {100000, 0}}, "L1", .05},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ev := score(tt.in, tt.checks, tt.past)
			if ev.Tier != tt.tier || math.Abs(got-tt.want) > 1e-9 {
				t.Errorf("score = %.4f in tier %s, want %.4f in %s", got, ev.Tier, tt.want, tt.tier)
			}
			if ev.Scheme != Scheme {
				t.Errorf("scheme = %q", ev.Scheme)
			}
		})
	}
}

// ladder orders the outcomes of each check from worst to best.
var ladder = map[string][]Check{
	CheckApply:       {ApplyRelaxed, ApplyExact},
	CheckParse:       {Unchecked, ParseOK},
	CheckRule:        {Unchecked, Gone},
	CheckDiagnostics: {Unchecked, GoneNoNew},
	CheckHygiene:     {HygieneFlag, HygieneOK},
	CheckLocality:    {OutOfRegion, InRegion},
	CheckContext:     {ContextShort, ContextFull},
}

// A check that comes out better never lowers the confidence, and one that
// comes out worse never raises it, whatever the others say.
func TestScoreIsMonotonic(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	names := []string{CheckApply, CheckParse, CheckRule, CheckDiagnostics, CheckHygiene, CheckLocality, CheckContext}
	for range 20000 {
		in := inputs{
			engine:   []EngineName{Recipe, Model}[r.IntN(2)],
			category: []Category{Mechanical, Local, CrossFile}[r.IntN(3)],
			files:    1 + r.IntN(3), repairs: r.IntN(3),
		}
		checks := map[string]Check{}
		for _, name := range names {
			checks[name] = ladder[name][r.IntN(2)]
		}
		p, _ := score(in, checks, nil)
		if p < floor || p > ceiling {
			t.Fatalf("score(%+v, %v) = %v, out of range", in, checks, p)
		}
		for _, name := range names {
			before := checks[name]
			checks[name] = ladder[name][1]
			better, _ := score(in, checks, nil)
			checks[name] = ladder[name][0]
			worse, _ := score(in, checks, nil)
			checks[name] = before
			if better < p || worse > p {
				t.Fatalf("%s of %v in %+v: worse %v, as is %v, better %v", name, checks, in, worse, p, better)
			}
		}
		in.repairs++
		if more, _ := score(in, checks, nil); more > p {
			t.Fatalf("a repair raised %v to %v", p, more)
		}
	}
}
