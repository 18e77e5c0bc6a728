package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// An AuditRecord is one line of the audit log. Each holds the hash of the one
// before it, so that none can be changed, taken out or moved unnoticed.
type AuditRecord struct {
	Sequence int64           `json:"sequence"` // from 1, without gaps
	At       time.Time       `json:"at"`
	Kind     string          `json:"kind"`
	Data     json.RawMessage `json:"data"` // canonical JSON: members ordered, no spaces
	Prev     string          `json:"prev"` // hash of the record before, "" for the first
	Hash     string          `json:"hash"` // SHA-256 of Prev and the other members, lower-case hex
}

// An AuditAnchor names the newest record. Kept elsewhere, it shows later that
// nothing was cut off the end, even by somebody who can write the database.
type AuditAnchor struct {
	Sequence int64  `json:"sequence"`
	Hash     string `json:"hash"`
}

// auditText is what is stored and hashed of a record.
type auditText struct {
	Sequence int64           `json:"sequence"`
	At       string          `json:"at"`
	Kind     string          `json:"kind"`
	Data     json.RawMessage `json:"data"`
}

func auditHash(prev, record string) string {
	sum := sha256.Sum256([]byte(prev + "\n" + record))
	return hex.EncodeToString(sum[:])
}

// Audit adds a record. data is any JSON value.
func (tx *Tx) Audit(at time.Time, kind string, data []byte) (AuditAnchor, error) {
	canonical, err := canonicalJSON(data)
	if err != nil {
		return AuditAnchor{}, fmt.Errorf("audit record %s: %w", kind, err)
	}
	head, err := tx.AuditHead(context.Background())
	if err != nil {
		return AuditAnchor{}, err
	}
	text := auditText{head.Sequence + 1, at.UTC().Format(time.RFC3339Nano), kind, canonical}
	record, err := json.Marshal(text)
	if err != nil {
		return AuditAnchor{}, fmt.Errorf("audit record %s: %w", kind, err)
	}
	next := AuditAnchor{text.Sequence, auditHash(head.Hash, string(record))}
	if _, err := tx.exec("INSERT INTO audit (sequence, prev, hash, record) VALUES (?, ?, ?, ?)", next.Sequence, head.Hash, next.Hash, string(record)); err != nil {
		return AuditAnchor{}, fmt.Errorf("audit record %s: %w", kind, err)
	}
	if _, err := tx.exec("INSERT OR REPLACE INTO audit_head (one, sequence, hash) VALUES (1, ?, ?)", next.Sequence, next.Hash); err != nil {
		return AuditAnchor{}, fmt.Errorf("audit record %s: %w", kind, err)
	}
	return next, nil
}

// Audit is [Tx.Audit], alone and [Durable].
func (s *Store) Audit(ctx context.Context, at time.Time, kind string, data []byte) (head AuditAnchor, err error) {
	err = s.Update(ctx, Durable, func(tx *Tx) (err error) {
		head, err = tx.Audit(at, kind, data)
		return err
	})
	return head, err
}

// AuditHead returns the newest record's anchor; the zero anchor when there is
// none.
func (r reader) AuditHead(ctx context.Context) (AuditAnchor, error) {
	var a AuditAnchor
	err := r.scanRow(ctx, "SELECT sequence, hash FROM audit_head WHERE one = 1", nil, &a.Sequence, &a.Hash)
	if errors.Is(err, sql.ErrNoRows) {
		return AuditAnchor{}, nil
	}
	if err != nil {
		return AuditAnchor{}, fmt.Errorf("audit head: %w", err)
	}
	return a, nil
}

// AuditRecords returns the records after a sequence number, at most limit when
// it is positive. It does not verify them.
func (r reader) AuditRecords(ctx context.Context, after int64, limit int) ([]AuditRecord, error) {
	if limit <= 0 {
		limit = -1
	}
	rows, err := r.query(ctx, "SELECT sequence, prev, hash, record FROM audit WHERE sequence > ? ORDER BY sequence LIMIT ?", after, limit)
	if err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	defer rows.Close()
	var records []AuditRecord
	for rows.Next() {
		var a AuditRecord
		var text string
		if err := rows.Scan(&a.Sequence, &a.Prev, &a.Hash, &text); err != nil {
			return nil, fmt.Errorf("audit log: %w", err)
		}
		var t auditText
		if err := json.Unmarshal([]byte(text), &t); err != nil {
			return nil, fmt.Errorf("audit record %d: %w; run the audit verification", a.Sequence, err)
		}
		if a.At, err = time.Parse(time.RFC3339Nano, t.At); err != nil {
			return nil, fmt.Errorf("audit record %d: %w; run the audit verification", a.Sequence, err)
		}
		a.Kind, a.Data = t.Kind, t.Data
		records = append(records, a)
	}
	return records, rows.Err()
}

// An AuditReport is what a verification found.
type AuditReport struct {
	OK      bool        `json:"ok"`
	Records int64       `json:"records"` // how many are intact, from the first on
	Head    AuditAnchor `json:"head"`
	Broken  int64       `json:"broken,omitempty"` // sequence number of the first record that is not
	Reason  string      `json:"reason,omitempty"` // what is wrong there
}

// VerifyAudit reads the whole log and reports the first place where it is not
// what was written: a record that was changed, taken out, put in or moved, or
// an end that was cut off. anchor, which may be nil, is one that was kept
// elsewhere.
func (r reader) VerifyAudit(ctx context.Context, anchor *AuditAnchor) (AuditReport, error) {
	head, err := r.AuditHead(ctx)
	if err != nil {
		return AuditReport{}, err
	}
	report := AuditReport{Head: head}
	broken := func(at int64, format string, args ...any) (AuditReport, error) {
		report.Broken, report.Reason = at, fmt.Sprintf(format, args...)
		return report, nil
	}
	rows, err := r.query(ctx, "SELECT CAST(sequence AS TEXT), CAST(prev AS BLOB), CAST(hash AS BLOB), CAST(record AS BLOB) FROM audit ORDER BY sequence")
	if err != nil {
		return AuditReport{}, fmt.Errorf("audit log: %w", err)
	}
	defer rows.Close()
	prev, anchored := "", anchor == nil || anchor.Sequence == 0
	for rows.Next() {
		var sequence, rowPrev, hash, record string
		if err := rows.Scan(&sequence, &rowPrev, &hash, &record); err != nil {
			return AuditReport{}, fmt.Errorf("audit log: %w", err)
		}
		want := report.Records + 1
		if sequence != fmt.Sprint(want) {
			return broken(want, "record %d is missing; the next one is %s", want, sequence)
		}
		if rowPrev != prev {
			return broken(want, "it does not follow the record before it")
		}
		if auditHash(prev, record) != hash {
			return broken(want, "its content does not have its hash")
		}
		var t auditText
		if err := json.Unmarshal([]byte(record), &t); err != nil || t.Sequence != want {
			return broken(want, "it is another record's content")
		}
		if anchor != nil && anchor.Sequence == want {
			if anchor.Hash != hash {
				return broken(want, "it is not the record that the given anchor names")
			}
			anchored = true
		}
		prev = hash
		report.Records = want
	}
	if err := rows.Err(); err != nil {
		return AuditReport{}, fmt.Errorf("audit log: %w", err)
	}
	if head.Sequence != report.Records || head.Hash != prev {
		return broken(report.Records+1, "the log has %d records, its head says %d: its end was cut off or added to", report.Records, head.Sequence)
	}
	if !anchored {
		return broken(report.Records+1, "the log has %d records, the given anchor names number %d: its end was cut off", report.Records, anchor.Sequence)
	}
	report.OK = true
	return report, nil
}

// canonicalJSON writes one JSON value with its members ordered and no spaces.
// Numbers stay as they are written.
func canonicalJSON(data []byte) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("not one JSON value")
	}
	return json.Marshal(v)
}
