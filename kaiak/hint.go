package kaiak

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kaiak/kaiak/agent"
	"github.com/kaiak/kaiak/agent/redact"
	"github.com/kaiak/kaiak/store"
)

// HintScope is the scope of the one kind of memory there is: accepted model
// fixes, shown to the model when it fixes the same rule in the same workspace.
const HintScope = "rule_hint"

const (
	hintPrefix   = "hint." // of the setting that holds a rule's hints
	hintsPerRule = 5       // that are kept, the newest
	hintBytes    = 1500    // of one hint's text
)

// A Memory is an accepted fix of the model, kept as a hint for its rule.
type Memory struct {
	ID         string    `json:"memory_id"`
	Scope      string    `json:"scope"` // rule_hint
	RuleID     string    `json:"rule_id"`
	FilePath   string    `json:"file_path"`
	ProposalID string    `json:"proposal_id"` // that was accepted unchanged
	Text       string    `json:"text"`        // lines before with "- ", after with "+ "; secrets are hidden
	CreatedAt  time.Time `json:"created_at"`
}

// hintsOf returns what an applied proposal teaches about its rules: nothing
// unless the model made it and the user took it as it was.
func (s *Service) hintsOf(ctx context.Context, sp *space, p *proposal, now time.Time) ([]Memory, error) {
	c := p.data.Candidate
	if c.Engine != agent.Model || p.data.Edited || len(p.data.Accepted) != len(c.Hunks) || !sp.config().Model.Hints {
		return nil, nil
	}
	list, err := s.incidentsOf(ctx, p)
	if err != nil {
		return nil, err
	}
	var rules []string
	ruleOf := map[string]string{}
	for _, in := range list {
		ruleOf[in.ID] = in.RuleID
		if !slices.Contains(rules, in.RuleID) {
			rules = append(rules, in.RuleID)
		}
	}
	bases, err := s.appliedBases(ctx, p)
	if err != nil {
		return nil, err
	}
	hide := redact.New(redact.Options{})
	var out []Memory
	for _, rule := range rules {
		m := Memory{ID: newID("hint-"), Scope: HintScope, RuleID: rule, ProposalID: p.id, CreatedAt: now}
		var text strings.Builder
		for _, h := range c.Hunks {
			speaksFor := func(id string) bool { return ruleOf[id] == rule }
			if len(h.IncidentIDs) > 0 && !slices.ContainsFunc(h.IncidentIDs, speaksFor) {
				continue
			}
			for _, change := range lineChanges(bases[h.Path], h.Edits) {
				m.FilePath = first(m.FilePath, h.Path)
				text.WriteString(change.String())
			}
		}
		m.Text = hide.Text(text.String())
		if len(m.Text) > hintBytes {
			m.Text = strings.ToValidUTF8(m.Text[:hintBytes], "") + "\n(cut)\n"
		}
		if m.FilePath != "" {
			out = append(out, m)
		}
	}
	return out, nil
}

// appliedBases returns the texts that an applied proposal changed, by path.
func (s *Service) appliedBases(ctx context.Context, p *proposal) (map[string][]byte, error) {
	bases := map[string][]byte{}
	for _, c := range p.data.Applied.Changes {
		if c.BaseSHA256 == "" {
			continue // a new file
		}
		base, err := s.store.Blob(ctx, c.BaseSHA256)
		if err != nil {
			return nil, fmt.Errorf("the text of %s before proposal %q: %w", c.Path, p.id, err)
		}
		bases[c.Path] = base
	}
	return bases, nil
}

// addHints stores hints, the newest of each rule first.
func addHints(tx *store.Tx, scope string, hints []Memory) error {
	if len(hints) == 0 {
		return nil
	}
	all, err := tx.Settings(context.Background(), scope)
	if err != nil {
		return err
	}
	for _, m := range hints {
		old, _ := readHints(all, m.RuleID) // what cannot be read is replaced
		old = slices.DeleteFunc(old, func(o Memory) bool { return o.Text == m.Text })
		if err := putHints(tx, scope, m.RuleID, append([]Memory{m}, old...)); err != nil {
			return err
		}
	}
	return nil
}

func putHints(tx *store.Tx, scope, rule string, list []Memory) error {
	if len(list) == 0 {
		return tx.SetSetting(scope, hintPrefix+rule, nil)
	}
	return tx.SetSetting(scope, hintPrefix+rule, mustJSON(list[:min(len(list), hintsPerRule)]))
}

func readHints(all map[string][]byte, rule string) ([]Memory, error) {
	var list []Memory
	raw := all[hintPrefix+rule]
	if raw == nil {
		return nil, nil
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, Errorf(InternalError, "the hints of rule %q in the state cannot be read: %w", rule, err)
	}
	return list, nil
}

// hintRules returns the rules that have hints, sorted.
func hintRules(all map[string][]byte) []string {
	var names []string
	for _, name := range sortedKeys(all) {
		if rule, ok := strings.CutPrefix(name, hintPrefix); ok {
			names = append(names, rule)
		}
	}
	return names
}

// dropHints removes the hints that drop selects and returns how many there were.
func dropHints(tx *store.Tx, scope string, drop func(Memory) bool) (int, error) {
	all, err := tx.Settings(context.Background(), scope)
	if err != nil {
		return 0, err
	}
	dropped := 0
	for _, rule := range hintRules(all) {
		list, err := readHints(all, rule)
		if err != nil {
			continue // listing says so; the next accepted fix replaces it
		}
		kept := slices.DeleteFunc(slices.Clone(list), drop)
		if len(kept) == len(list) {
			continue
		}
		dropped += len(list) - len(kept)
		if err := putHints(tx, scope, rule, kept); err != nil {
			return 0, err
		}
	}
	return dropped, nil
}

// promptHints returns the hints of a workspace as the model sees them, by rule:
// those of now, because a request must ask the same whatever is accepted while
// it runs. It is nil where the setting model.hints is off.
func (sp *space) promptHints(ctx context.Context) (func(ruleID string) []string, error) {
	if !sp.config().Model.Hints {
		return nil, nil
	}
	all, err := sp.service.store.Settings(ctx, sp.ws.RealDir())
	if err != nil {
		return nil, err
	}
	byRule := map[string][]string{}
	for _, rule := range hintRules(all) {
		list, err := readHints(all, rule)
		if err != nil {
			return nil, err
		}
		for _, m := range list {
			byRule[rule] = append(byRule[rule], fmt.Sprintf("%s, accepted in %s (%s):\n%s", m.RuleID, m.FilePath, m.ID, m.Text))
		}
	}
	return func(ruleID string) []string { return byRule[ruleID] }, nil
}
