package batch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/lsp/client"
)

// chunk has the server fix some incidents and, where the run applies, carries
// out what the policy approves. It returns a row for each incident.
//
// The request has the same client_request_id in every run of the batch, so that
// a resumed run gets the request that is there already, with what became of its
// proposals, instead of a second one.
func (b *run) chunk(ctx context.Context, n int, list []incidents.Incident, done int) ([]Row, error) {
	// Where the run applies, making the proposals is half the work.
	half := len(list)
	if b.record.Apply {
		half /= 2
	}
	b.stream.onProgress(func(p progressContent) {
		b.progress(done+half*min(max(p.Percentage, 0), 100)/100, p.Description)
	})
	defer b.stream.onProgress(nil)
	req, err := call[generateResult](ctx, b, methodGenerate, generateParams{
		SessionID: b.record.SessionID, Incidents: list, MigrationContext: b.record.Context, Approval: approvalDefer, Engines: b.record.Engines,
		ClientRequestID: fmt.Sprintf("%s/%d", b.record.ID, n),
	})
	if err != nil {
		return nil, err
	}
	if err := b.await(ctx, req.RequestID); err != nil {
		return nil, err
	}
	proposals, err := b.proposals(ctx, req.RequestID)
	if err != nil {
		return nil, err
	}
	if b.record.Apply {
		err = b.approve(ctx, proposals, func(n int) {
			b.progress(done+half+(len(list)-half)*n/len(proposals), "applying")
		})
	} else {
		err = b.show(ctx, proposals)
	}
	if err != nil {
		return nil, err
	}
	status, err := b.status(ctx, req.RequestID)
	if err != nil {
		return nil, err
	}

	where := map[string]incidentRow{}
	for _, row := range status.Incidents {
		where[row.IncidentID] = row
	}
	byID := map[string]*proposal{}
	for i := range proposals {
		byID[proposals[i].ProposalID] = &proposals[i]
	}
	rows := make([]Row, 0, len(list))
	for i := range list {
		at := where[list[i].ID]
		if (at.State == "" || at.State == "pending") && status.Error != "" {
			at = incidentRow{State: string(Failed), Reason: status.Error}
		}
		rows = append(rows, b.row(&list[i], at, byID[at.ProposalID]))
	}
	if b.stream.outOfBudget() {
		return rows, fmt.Errorf("%w: the budget is used up", ErrPaused)
	}
	return rows, nil
}

func (b *run) status(ctx context.Context, requestID string) (requestStatus, error) {
	return call[requestStatus](ctx, b, methodStatus, map[string]string{"request_id": requestID})
}

// pollEvery is how often a request is asked about that says nothing.
const pollEvery = 5 * time.Second

// await waits until the request is over.
func (b *run) await(ctx context.Context, requestID string) error {
	completed := b.stream.completed(requestID)
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for {
		// The request of an earlier run may be over: then no event comes. Nor does
		// one come when the server could not store it, on a disk that is full.
		status, err := b.status(ctx, requestID)
		switch {
		case err != nil || status.over():
			return err
		case status.Status == "interrupted":
			return errors.New("the server could not go on with a request")
		}
		select {
		case <-completed:
			return nil
		case <-poll.C:
		case <-b.client.Done():
			return client.ErrGone
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// proposals returns what the request proposed, in the order in which it did.
func (b *run) proposals(ctx context.Context, requestID string) ([]proposal, error) {
	var all []proposal
	params := map[string]any{"session_id": b.record.SessionID, "request_id": requestID, "limit": 500}
	for {
		page, err := call[proposalPage](ctx, b, methodList, params)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Proposals...)
		if page.Cursor == "" {
			return all, nil
		}
		params["cursor"] = page.Cursor
	}
}

// files returns the files of a proposal: as the stream told, else as the server
// tells when asked, which is what a resumed run has to do.
func (b *run) files(ctx context.Context, q *proposal) ([]fileModification, error) {
	if files, ok := b.stream.proposed(q.ProposalID); ok {
		return files, nil
	}
	whole, err := call[proposal](ctx, b, methodGet, map[string]string{"proposal_id": q.ProposalID})
	return whole.Files, err
}

// show writes the diffs of all proposals that are not decided, by file.
func (b *run) show(ctx context.Context, proposals []proposal) error {
	if b.opts.Out == nil {
		return nil
	}
	var all []fileModification
	for i := range proposals {
		if proposals[i].Status != "pending" {
			continue
		}
		files, err := b.files(ctx, &proposals[i])
		if err != nil {
			return err
		}
		all = append(all, files...)
	}
	slices.SortStableFunc(all, func(a, c fileModification) int { return strings.Compare(a.FilePath, c.FilePath) })
	for _, f := range all {
		if _, err := io.WriteString(b.opts.Out, f.Diff); err != nil {
			return err
		}
	}
	return nil
}

// approve applies the pending proposals that the policy approves, each by the
// hashes of the bytes that were seen. One that the server refuses is noted and
// the others go on. show hears how many are done.
func (b *run) approve(ctx context.Context, proposals []proposal, show func(n int)) error {
	for i := range proposals {
		show(i)
		q := &proposals[i]
		if q.Status != "pending" {
			continue // decided by an earlier run, or by the server's own rules
		}
		if ok, _ := b.record.Approve.approves(q); !ok {
			continue
		}
		files, err := b.files(ctx, q)
		if err != nil {
			return err
		}
		params := applyParams{ProposalID: q.ProposalID}
		for _, f := range files {
			params.Files = append(params.Files, boundFile{f.FilePath, f.BaseSHA256, f.ProposedSHA256})
		}
		var refused *client.Error
		switch _, err := call[struct{}](ctx, b, methodApply, params); {
		case errors.As(err, &refused) && refused.Code == codeContentModified:
			b.refused[q.ProposalID] = refusal{Unfixed, refused.Message}
		case errors.As(err, &refused):
			b.refused[q.ProposalID] = refusal{Failed, refused.Message}
		case err != nil:
			return err
		}
	}
	return nil
}
