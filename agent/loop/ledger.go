package loop

import (
	"fmt"
	"sync"

	"github.com/kaiak/kaiak/agent/llm"
)

// DefaultTokens is how many tokens a session may use.
const DefaultTokens = 400_000

// A Ledger adds up what is spent and refuses what would exceed a cap, before it
// is spent. It is safe for concurrent use: what is under way counts.
type Ledger struct {
	mu        sync.Mutex // guards what follows
	maxTokens int        // 0: no cap
	maxCost   float64    // US dollars; 0: no cap
	tokens    int
	cost      float64
	unknown   bool // some turn had no price
	reserved  int  // tokens of turns under way
	reservedC float64
}

// NewLedger returns a ledger with caps; 0 means none.
func NewLedger(tokens int, costUSD float64) *Ledger {
	return &Ledger{maxTokens: tokens, maxCost: costUSD}
}

// A CapError says which cap the next call would exceed.
type CapError struct{ Cap string }

func (e *CapError) Error() string { return e.Cap }

// Reserve sets tokens and money aside for one call. cost nil means that its price
// is not known; then only the tokens count. settle is called once with what the
// call really took.
func (l *Ledger) Reserve(tokens int, cost *float64) (settle func(u llm.Usage, cost *float64), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.maxTokens > 0 && l.tokens+l.reserved+tokens > l.maxTokens {
		return nil, &CapError{fmt.Sprintf("%d of %d tokens are used, and the next call may take %d", l.tokens+l.reserved, l.maxTokens, tokens)}
	}
	est := 0.0
	if cost != nil {
		est = *cost
	}
	if l.maxCost > 0 && l.cost+l.reservedC+est > l.maxCost {
		return nil, &CapError{fmt.Sprintf("$%.4f of $%.4f are spent, and the next call may cost $%.4f", l.cost+l.reservedC, l.maxCost, est)}
	}
	l.reserved += tokens
	l.reservedC += est
	return func(u llm.Usage, cost *float64) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.reserved -= tokens
		l.reservedC -= est
		l.tokens += u.Total()
		if cost == nil {
			l.unknown = l.unknown || u.Total() > 0
		} else {
			l.cost += *cost
		}
	}, nil
}

// Raise lifts the caps by what they were, after the user agreed to go on.
func (l *Ledger) Raise(tokens int, costUSD float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.maxTokens > 0 {
		l.maxTokens += tokens
	}
	if l.maxCost > 0 {
		l.maxCost += costUSD
	}
}

// Caps returns the caps.
func (l *Ledger) Caps() (tokens int, costUSD float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.maxTokens, l.maxCost
}

// Spent returns what was used; cost is nil when some of it has no known price.
func (l *Ledger) Spent() (tokens int, cost *float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.unknown {
		c := l.cost
		cost = &c
	}
	return l.tokens, cost
}
