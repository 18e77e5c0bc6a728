package kaiak

import (
	"context"
	"fmt"
	"time"

	"github.com/kaiak/kaiak/agent"
	"github.com/kaiak/kaiak/store"
)

// rowsOf returns one row per incident of a request: its proposal's state and
// verdict, or why there is none.
func (s *Service) rowsOf(ctx context.Context, requestID string, data requestData) ([]IncidentRow, error) {
	rows := make([]IncidentRow, len(data.Incidents))
	index := map[string]int{}
	for i, in := range data.Incidents {
		rows[i] = IncidentRow{IncidentID: in.ID, RuleID: in.RuleID, FilePath: in.FilePath, LineNumber: in.LineNumber, State: "pending"}
		index[in.ID] = i
	}
	for _, left := range data.Leftovers {
		if i, ok := index[left.IncidentID]; ok {
			rows[i].State, rows[i].Kind, rows[i].Reason = string(left.Verdict), left.Kind, left.Reason
		}
	}
	props, err := s.proposals(ctx, store.Filter{RequestID: requestID})
	for _, p := range props {
		for _, id := range p.data.Candidate.IncidentIDs {
			i, ok := index[id]
			if !ok {
				continue
			}
			rows[i].ProposalID, rows[i].Engine, rows[i].Kind, rows[i].Reason = p.id, p.data.Candidate.Engine, "", ""
			rows[i].State, rows[i].Reason = p.incidentState(id)
		}
	}
	return rows, err
}

func summarize(rows []IncidentRow, interactions int, took time.Duration) Summary {
	sum := Summary{UserInteractions: interactions, ProcessingTimeMS: took.Milliseconds()}
	applied := map[string]bool{}
	for _, row := range rows {
		if row.State != "pending" {
			sum.IncidentsProcessed++
		}
		switch agent.Verdict(row.State) {
		case agent.Fixed:
			sum.Fixed++
			applied[row.ProposalID] = true
		case agent.Partial, agent.Regressed:
			applied[row.ProposalID] = true
		case agent.Skipped:
			sum.Skipped++
		case agent.Unfixed, agent.Failed:
			sum.Unfixed++
		}
	}
	delete(applied, "")
	sum.ProposalsApplied = len(applied)
	return sum
}

func proposalCount(rows []IncidentRow) int {
	ids := map[string]bool{}
	for _, row := range rows {
		if row.ProposalID != "" {
			ids[row.ProposalID] = true
		}
	}
	return len(ids)
}

func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
