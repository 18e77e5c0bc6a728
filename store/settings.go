package store

import (
	"context"
	"fmt"
)

// Setting returns a value that [Store.SetSetting] stored under a scope (the
// workspace, or "" for everywhere) and a name, or an error that is [ErrNotFound].
func (r reader) Setting(ctx context.Context, scope, name string) ([]byte, error) {
	var value []byte
	if err := r.scanRow(ctx, "SELECT value FROM settings WHERE scope = ? AND name = ?", []any{scope, name}, &value); err != nil {
		return nil, notFound(err, "setting", name)
	}
	return nonNil(value), nil
}

// Settings returns every value of a scope by its name.
func (r reader) Settings(ctx context.Context, scope string) (map[string][]byte, error) {
	rows, err := r.query(ctx, "SELECT name, value FROM settings WHERE scope = ?", scope)
	if err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	defer rows.Close()
	all := map[string][]byte{}
	for rows.Next() {
		var name string
		var value []byte
		if err := rows.Scan(&name, &value); err != nil {
			return nil, fmt.Errorf("settings: %w", err)
		}
		all[name] = nonNil(value)
	}
	return all, rows.Err()
}

// SetSetting stores a value; nil removes it.
func (tx *Tx) SetSetting(scope, name string, value []byte) error {
	var err error
	if value == nil {
		_, err = tx.exec("DELETE FROM settings WHERE scope = ? AND name = ?", scope, name)
	} else {
		_, err = tx.exec("INSERT OR REPLACE INTO settings (scope, name, value) VALUES (?, ?, ?)", scope, name, value)
	}
	if err != nil {
		return fmt.Errorf("setting %q: %w", name, err)
	}
	return nil
}

// SetSetting is [Tx.SetSetting], alone and [Durable].
func (s *Store) SetSetting(ctx context.Context, scope, name string, value []byte) error {
	return s.Update(ctx, Durable, func(tx *Tx) error { return tx.SetSetting(scope, name, value) })
}

// An Outcome counts what became of the fixes of one engine, rule and tier.
type Outcome struct {
	Engine string
	Rule   string
	Tier   string
	N      int // decided by a user
	K      int // of those, kept unchanged
}

// CountOutcome counts one decision.
func (tx *Tx) CountOutcome(engine, rule, tier string, kept bool) error {
	k := 0
	if kept {
		k = 1
	}
	_, err := tx.exec(`INSERT INTO outcomes (engine, rule, tier, n, k) VALUES (?, ?, ?, 1, ?)
ON CONFLICT (engine, rule, tier) DO UPDATE SET n = n + 1, k = k + excluded.k`, engine, rule, tier, k)
	if err != nil {
		return fmt.Errorf("outcome of %s %s: %w", engine, rule, err)
	}
	return nil
}

// CountOutcome is [Tx.CountOutcome], alone and [Quick].
func (s *Store) CountOutcome(ctx context.Context, engine, rule, tier string, kept bool) error {
	return s.Update(ctx, Quick, func(tx *Tx) error { return tx.CountOutcome(engine, rule, tier, kept) })
}

// Outcomes returns the counts of an engine, ordered by rule and tier; of every
// engine when it is "".
func (r reader) Outcomes(ctx context.Context, engine string) ([]Outcome, error) {
	rows, err := r.query(ctx, "SELECT engine, rule, tier, n, k FROM outcomes WHERE ?1 = '' OR engine = ?1 ORDER BY engine, rule, tier", engine)
	if err != nil {
		return nil, fmt.Errorf("outcomes: %w", err)
	}
	defer rows.Close()
	var all []Outcome
	for rows.Next() {
		var o Outcome
		if err := rows.Scan(&o.Engine, &o.Rule, &o.Tier, &o.N, &o.K); err != nil {
			return nil, fmt.Errorf("outcomes: %w", err)
		}
		all = append(all, o)
	}
	return all, rows.Err()
}
