package kaiak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kaiak/kaiak/agent"
	"github.com/kaiak/kaiak/store"
)

// The states of an interaction. A timeout ends the interaction, never the
// proposal it asks about.
const (
	interactionPending   = "pending"
	interactionResponded = "responded"
	interactionExpired   = "expired"
	interactionCancelled = "cancelled"
)

// The types of interaction.
const (
	askApproval     = "approval"
	askChoice       = "choice"
	askInput        = "input"
	askConfirmation = "confirmation"
)

// interactionData is what the store keeps of an interaction beside its columns.
type interactionData struct {
	Type       string         `json:"type"`
	Prompt     string         `json:"prompt"`
	ProposalID string         `json:"proposal_id,omitempty"`
	SetID      string         `json:"set_id,omitempty"`
	Choices    []string       `json:"choices,omitempty"`
	Timeout    int            `json:"timeout"`
	Expires    time.Time      `json:"expires"`
	Response   map[string]any `json:"response,omitempty"`
	RepliedAt  *time.Time     `json:"responded_at,omitempty"`
}

// An interaction is one question to the user.
type interaction struct {
	id, sessionID, requestID string
	state                    string
	created                  time.Time
	data                     interactionData
}

func interactionNotFound(id string) *Error {
	return Errorf(InteractionNotFound, "there is no interaction %q; kaiak/interaction/list names those that wait", id).With("interaction_id", id)
}

func (s *Service) interaction(ctx context.Context, id string) (*interaction, error) {
	rec, err := s.store.Get(ctx, store.Interactions, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, interactionNotFound(id)
	}
	if err != nil {
		return nil, err
	}
	return readInteraction(rec)
}

func readInteraction(rec store.Record) (*interaction, error) {
	i := &interaction{id: rec.ID, sessionID: rec.SessionID, requestID: rec.RequestID, state: rec.State, created: rec.Created}
	if err := json.Unmarshal(rec.Data, &i.data); err != nil {
		return nil, Errorf(InternalError, "interaction %q in the state cannot be read: %w", rec.ID, err)
	}
	return i, nil
}

func (i *interaction) record(s *session) store.Record {
	return store.Record{ID: i.id, SessionID: i.sessionID, RequestID: i.requestID, ParentID: i.data.ProposalID, Scope: s.space.ws.RealDir(),
		State: i.state, Created: i.created, Updated: s.service.now(), Data: mustJSON(i.data)}
}

func (i *interaction) event() outgoing {
	d := i.data
	return outgoing{method: StreamUserInteraction, requestID: i.requestID, interactionID: i.id, content: InteractionContent{
		InteractionType: d.Type, Prompt: d.Prompt, ProposalID: d.ProposalID, Timeout: d.Timeout, Choices: d.Choices, SetID: d.SetID}}
}

// newInteraction makes a question of a request; open arms it once it is stored.
func (r *request) newInteraction(d interactionData) *interaction {
	s := r.session
	d.Timeout = s.timeout()
	now := s.service.now()
	d.Expires = now.Add(time.Duration(d.Timeout) * time.Second)
	return &interaction{id: newID("int-"), sessionID: s.id, requestID: r.id, state: interactionPending, created: now, data: d}
}

// timeout is how many seconds a question of the session waits.
func (s *session) timeout() int {
	s.mu.Lock()
	own := s.data.Configuration.Timeout
	s.mu.Unlock()
	return first(own, s.space.config().Timeout)
}

// approvalOf makes the question whether to apply a proposal.
func (r *request) approvalOf(p *proposal) *interaction {
	c := p.data.Candidate
	var where string
	if len(c.Changes) == 1 {
		where = c.Changes[0].Path
	} else {
		where = countOf(len(c.Changes), "file")
	}
	return r.newInteraction(interactionData{Type: askApproval, ProposalID: p.id, SetID: p.data.SetID,
		Prompt: fmt.Sprintf("%s (%s). Apply this change?", c.Description, where)})
}

// open makes a stored question wait for its answer: its time starts to run, and
// a client that does not know kaiak/* is asked in its own way.
func (r *request) open(i *interaction) {
	r.mu.Lock()
	r.asked[i.id] = struct{}{}
	r.data.Interactions++
	r.mu.Unlock()
	r.session.service.expireAt(i)
	if c := r.client; c != nil && !c.info.Interactive {
		r.session.service.run(func() { c.ask(r.ctx, i) })
	}
}

// expireAt ends an interaction when its time is over, unless the service ends first.
func (s *Service) expireAt(i *interaction) {
	timer := time.NewTimer(i.data.Expires.Sub(s.opts.Now()))
	started := s.run(func() {
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-s.ctx.Done():
			return
		}
		if err := s.closeInteraction(s.ctx, i.id, interactionExpired); err != nil && s.ctx.Err() == nil {
			s.log.Error("a question cannot expire", "interaction", i.id, "error", err)
		}
	})
	if !started {
		timer.Stop()
	}
}

// ask shows a question through the client's own means and answers it.
func (c *Client) ask(ctx context.Context, i *interaction) {
	c.asking.Lock() // one box at a time
	defer c.asking.Unlock()
	if ctx.Err() != nil {
		return
	}
	var actions []string
	switch i.data.Type {
	case askApproval:
		actions = []string{"Apply", "Reject"}
	case askConfirmation:
		actions = []string{"Yes", "No"}
	case askChoice:
		actions = i.data.Choices
	default:
		return // text cannot be asked for this way; it expires
	}
	action, ok := c.front.Ask(ctx, i.data.Prompt, actions)
	if !ok || action == "" || ctx.Err() != nil {
		return // dismissed is not an answer: the proposal stays pending
	}
	data := map[string]any{}
	switch i.data.Type {
	case askApproval:
		data["approved"] = action == "Apply"
	case askConfirmation:
		data["confirmed"] = action == "Yes"
	case askChoice:
		data["choice"] = action
	}
	if _, err := c.service.respond(ctx, InteractionRespondParams{InteractionID: i.id, ResponseType: i.data.Type, ResponseData: data}, c.info.Name); err != nil {
		c.service.log.Warn("an answer had no effect", "interaction", i.id, "error", err)
	}
}

// closeInteraction ends a pending interaction without an answer. It does nothing
// to one that is closed already.
func (s *Service) closeInteraction(ctx context.Context, id, state string) error {
	i, err := s.interaction(ctx, id)
	if err != nil {
		return ignoreCode(err, InteractionNotFound)
	}
	ses, err := s.session(ctx, i.sessionID, true)
	if err != nil {
		return ignoreCode(err, SessionNotFound)
	}
	err = ses.commit(store.Durable, func(tx *store.Tx) error {
		won, err := tx.Move(store.Interactions, id, []string{interactionPending}, state, s.now(), nil)
		if err == nil && !won {
			return errNotPending
		}
		return err
	}, outgoing{method: StreamSystem, requestID: i.requestID, content: SystemContent{
		Event: "interaction_" + state, RequestID: i.requestID, Interaction: id, ProposalID: i.data.ProposalID, Status: state}})
	if errors.Is(err, errNotPending) {
		return nil
	}
	s.answered(ses, i, answer{})
	return err
}

// errNotPending says that another call moved the record out of pending first.
var errNotPending = errors.New("not pending any more")

// ignoreCode drops an error with a number that is expected.
func ignoreCode(err error, code Code) error {
	var e *Error
	if errors.As(err, &e) && e.Code == code {
		return nil
	}
	return err
}

// closeInteractionOf withdraws the question about a proposal, if it is open.
func (s *Service) closeInteractionOf(ctx context.Context, proposalID string) error {
	recs, _, err := s.store.List(ctx, store.Interactions, store.Filter{ParentID: proposalID, States: []string{interactionPending}})
	if err != nil {
		return err
	}
	for _, rec := range recs {
		if err := s.closeInteraction(ctx, rec.ID, interactionCancelled); err != nil {
			return err
		}
	}
	return nil
}

// An answer is what a question got: text for the model, where it was one.
type answer struct {
	text string
	ok   bool
}

// answered tells the request that a question of it is closed.
func (s *Service) answered(ses *session, i *interaction, a answer) {
	ses.mu.Lock()
	r := ses.requests[i.requestID]
	ses.mu.Unlock()
	if r == nil {
		return
	}
	r.mu.Lock()
	wait := r.replies[i.id]
	delete(r.replies, i.id)
	r.mu.Unlock()
	if wait != nil {
		wait <- a // holds one
	}
	r.closeInteraction(i.id)
}

// askUser puts a model's question to the user and waits for the answer.
func (r *request) askUser(ctx context.Context, q agent.Question) (string, bool) {
	i := r.newInteraction(interactionData{Type: q.Kind, Prompt: q.Prompt, Choices: q.Choices})
	reply := make(chan answer, 1)
	r.mu.Lock()
	r.replies[i.id] = reply
	r.mu.Unlock()
	err := r.session.commit(store.Durable, func(tx *store.Tx) error { return tx.Put(store.Interactions, i.record(r.session)) }, i.event())
	if err != nil {
		r.session.service.log.Error("a question cannot be stored", "error", err)
		return "", false
	}
	r.open(i)
	select {
	case a := <-reply:
		return a.text, a.ok
	case <-ctx.Done():
		return "", false
	}
}

// respond answers an interaction, exactly once. An approval is carried out
// before respond returns; when that fails the error says why, and the proposal
// is pending or stale, never half applied.
func (s *Service) respond(ctx context.Context, p InteractionRespondParams, by string) (InteractionRespondResult, error) {
	i, err := s.interaction(ctx, p.InteractionID)
	if err != nil {
		return InteractionRespondResult{}, err
	}
	ses, err := s.session(ctx, i.sessionID, true)
	if err != nil {
		return InteractionRespondResult{}, err
	}
	if i.state != interactionPending {
		return InteractionRespondResult{}, i.notPending()
	}
	reply, sel, err := i.validate(p)
	if err != nil {
		return InteractionRespondResult{}, err
	}
	now := s.now()
	i.data.Response, i.data.RepliedAt = p.ResponseData, &now
	durability := store.Durable
	if i.data.Type == askApproval && reply.ok {
		durability = store.Quick // the journal's first commit takes it to the disk
	}
	err = ses.commit(durability, func(tx *store.Tx) error {
		won, err := tx.Move(store.Interactions, i.id, []string{interactionPending}, interactionResponded, now, mustJSON(i.data))
		if err == nil && !won {
			return errNotPending
		}
		return err
	}, outgoing{method: StreamSystem, requestID: i.requestID, content: SystemContent{
		Event: "interaction_responded", RequestID: i.requestID, Interaction: i.id, ProposalID: i.data.ProposalID, Status: interactionResponded}})
	if errors.Is(err, errNotPending) {
		if again, e := s.interaction(ctx, i.id); e == nil {
			i = again
		}
		return InteractionRespondResult{}, i.notPending()
	}
	if err != nil {
		return InteractionRespondResult{}, err
	}
	// The request goes on only when the answer has had its effect, so that its
	// terminal event comes last.
	defer s.answered(ses, i, reply)
	result := InteractionRespondResult{InteractionID: i.id, Status: "processed", RespondedAt: now}
	if i.data.Type != askApproval {
		return result, nil
	}
	if !reply.ok {
		return result, s.reject(ctx, i.data.ProposalID, reply.text, by)
	}
	sel.answers = true
	applied, err := s.apply(ctx, i.data.ProposalID, sel, by)
	if err != nil {
		return InteractionRespondResult{}, err
	}
	result.Verdicts = applied.Verdicts
	return result, nil
}

func (i *interaction) notPending() *Error {
	return Errorf(InteractionResponded, "interaction %q is %s already; kaiak/proposal/apply can still apply a pending proposal", i.id, i.state).
		With("interaction_id", i.id).With("state", i.state)
}

// validate checks an answer against its question; -32011 says what is wrong.
func (i *interaction) validate(p InteractionRespondParams) (answer, selection, error) {
	bad := func(format string, args ...any) (answer, selection, error) {
		return answer{}, selection{}, Errorf(ResponseInvalid, format, args...).With("interaction_id", i.id)
	}
	if p.ResponseType != i.data.Type {
		return bad("interaction %q asks for %s, not for %s", i.id, i.data.Type, p.ResponseType)
	}
	data := p.ResponseData
	switch i.data.Type {
	case askApproval:
		approved, ok := data["approved"].(bool)
		if !ok {
			return bad("response_data.approved must be true or false")
		}
		var more struct {
			Hunks  []int       `json:"hunks,omitempty"`
			Files  []FileBytes `json:"files,omitempty"`
			Base   string      `json:"base_sha256,omitempty"`
			After  string      `json:"proposed_sha256,omitempty"`
			ID     string      `json:"proposal_id,omitempty"`
			Reason string      `json:"reason,omitempty"`
		}
		more, err := decodeInto(more, data)
		if err != nil {
			return bad("response_data: %v", err)
		}
		if more.ID != "" && more.ID != i.data.ProposalID {
			return bad("the interaction asks about proposal %q, not about %q", i.data.ProposalID, more.ID)
		}
		sel, err := newSelection(more.Hunks, data["hunks"] != nil, more.Files, more.Base, more.After)
		if err != nil {
			return bad("response_data.%v", err)
		}
		return answer{text: more.Reason, ok: approved}, sel, nil
	case askChoice:
		choice, ok := data["choice"].(string)
		if !ok || !slices.Contains(i.data.Choices, choice) {
			return bad("response_data.choice must be one of %q", i.data.Choices)
		}
		return answer{choice, true}, selection{}, nil
	case askInput:
		text, ok := data["input"].(string)
		if !ok {
			return bad("response_data.input must be a text")
		}
		return answer{text, true}, selection{}, nil
	case askConfirmation:
		yes, ok := data["confirmed"].(bool)
		if !ok {
			return bad("response_data.confirmed must be true or false")
		}
		if yes {
			return answer{"yes", true}, selection{}, nil
		}
		return answer{"no", true}, selection{}, nil
	}
	return bad("interactions of type %q cannot be answered", i.data.Type)
}

// FileBytes names the bytes of one file that an approval accepts; with
// ProposedContent they are the user's own.
type FileBytes struct {
	FilePath        string  `json:"file_path"`
	BaseSHA256      string  `json:"base_sha256,omitempty"`
	ProposedSHA256  string  `json:"proposed_sha256,omitempty"`
	ProposedContent *string `json:"proposed_content,omitempty"`
}

func newSelection(hunks []int, some bool, files []FileBytes, base, proposed string) (selection, error) {
	sel := selection{edited: map[string]string{}, bound: map[string]boundBytes{}}
	if some {
		sel.hunks = orEmpty(hunks)
	}
	if base != "" || proposed != "" {
		sel.bound[""] = boundBytes{base, proposed}
	}
	for _, f := range files {
		if f.ProposedContent != nil {
			if some {
				return sel, errors.New("files[].proposed_content cannot be given together with hunks: edit the text to what you accept")
			}
			sel.edited[f.FilePath] = *f.ProposedContent
			f.ProposedSHA256 = ""
		}
		sel.bound[f.FilePath] = boundBytes{f.BaseSHA256, f.ProposedSHA256}
	}
	return sel, nil
}

func decodeInto[T any](_ T, data map[string]any) (T, error) { return decodeParams[T](mustJSON(data)) }
