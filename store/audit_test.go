package store

import (
	"fmt"
	"strings"
	"testing"
)

// audited returns a store with n audit records.
func audited(t *testing.T, n int) *Store {
	t.Helper()
	s := open(t, t.TempDir())
	check(t, s.Update(t.Context(), Quick, func(tx *Tx) error {
		for i := range n {
			if _, err := tx.Audit(at, "apply", fmt.Appendf(nil, `{"z": %d, "a": "<&>"}`, i)); err != nil {
				return err
			}
		}
		return nil
	}))
	return s
}

func TestAuditChain(t *testing.T) {
	s := audited(t, 20)
	report, err := s.VerifyAudit(t.Context(), nil)
	check(t, err)
	if !report.OK || report.Records != 20 || report.Broken != 0 {
		t.Errorf("%+v", report)
	}
	records, err := s.AuditRecords(t.Context(), 18, 0)
	check(t, err)
	if len(records) != 2 || records[1].Sequence != 20 || records[1].Prev != records[0].Hash || !records[0].At.Equal(at) ||
		string(records[0].Data) != `{"a":"\u003c\u0026\u003e","z":18}` {
		t.Errorf("%+v", records)
	}
	if head, err := s.AuditHead(t.Context()); err != nil || head.Hash != records[1].Hash || head.Sequence != 20 {
		t.Error(head, err)
	}
	for _, bad := range []string{``, `{`, `{} {}`} {
		if _, err := s.Audit(t.Context(), at, "x", []byte(bad)); err == nil {
			t.Errorf("%q was taken for JSON", bad)
		}
	}
}

func TestAuditTampering(t *testing.T) {
	tests := []struct {
		name   string
		how    string
		broken int64
	}{
		{"changed", "UPDATE audit SET record = replace(record, '\"z\":6', '\"z\":7') WHERE sequence = 7", 7},
		{"removed", "DELETE FROM audit WHERE sequence = 4", 4},
		{"first removed", "DELETE FROM audit WHERE sequence = 1", 1},
		{"tail cut", "DELETE FROM audit WHERE sequence > 8", 9},
		{"all gone", "DELETE FROM audit", 1},
		{"head gone", "DELETE FROM audit_head", 11},
		{"head moved back", "UPDATE audit_head SET sequence = 9", 11},
		{"swapped", "UPDATE audit SET sequence = CASE sequence WHEN 3 THEN -5 ELSE sequence END; UPDATE audit SET sequence = 3 WHERE sequence = 5; UPDATE audit SET sequence = 5 WHERE sequence = -5", 3},
		{"inserted", "INSERT INTO audit SELECT 11, hash, 'x', record FROM audit WHERE sequence = 10", 11},
		{"renumbered", "DELETE FROM audit WHERE sequence = 10; UPDATE audit SET sequence = 10, prev = prev WHERE sequence = 9", 9},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := audited(t, 10)
			check(t, s.Update(t.Context(), Quick, func(tx *Tx) error {
				for q := range strings.SplitSeq(test.how, ";") {
					if _, err := tx.exec(q); err != nil {
						return err
					}
				}
				return nil
			}))
			report, err := s.VerifyAudit(t.Context(), nil)
			check(t, err)
			if report.OK || report.Broken != test.broken || report.Reason == "" {
				t.Errorf("%+v, want broken at %d", report, test.broken)
			}
		})
	}
}

// Somebody who rewrites the head as well is found by an anchor kept elsewhere.
func TestAuditAnchor(t *testing.T) {
	s := audited(t, 10)
	head, err := s.AuditHead(t.Context())
	check(t, err)
	check(t, s.Update(t.Context(), Quick, func(tx *Tx) error {
		for _, q := range []string{
			"DELETE FROM audit WHERE sequence > 8",
			"INSERT OR REPLACE INTO audit_head SELECT 1, sequence, hash FROM audit WHERE sequence = 8",
		} {
			if _, err := tx.exec(q); err != nil {
				return err
			}
		}
		return nil
	}))
	if report, err := s.VerifyAudit(t.Context(), nil); err != nil || !report.OK {
		t.Errorf("%+v %v: the premise is that this goes unseen without an anchor", report, err)
	}
	if report, err := s.VerifyAudit(t.Context(), &head); err != nil || report.OK || report.Broken != 9 {
		t.Errorf("%+v %v", report, err)
	}
	if report, err := s.VerifyAudit(t.Context(), &AuditAnchor{5, "somebody else's"}); err != nil || report.OK || report.Broken != 5 {
		t.Errorf("%+v %v", report, err)
	}
}

// Every single-bit change of every stored byte is found, at its record.
func TestAuditEveryByte(t *testing.T) {
	const records = 6
	s := audited(t, records)
	for seq := int64(1); seq <= records; seq++ {
		for _, column := range []string{"prev", "hash", "record"} {
			var text string
			check(t, s.scanRow(t.Context(), "SELECT "+column+" FROM audit WHERE sequence = ?", []any{seq}, &text))
			for i := range len(text) {
				flipped := []byte(text)
				flipped[i] ^= 1 << (i % 8)
				set := func(v []byte) {
					check(t, s.Update(t.Context(), Quick, func(tx *Tx) error {
						_, err := tx.exec("UPDATE audit SET "+column+" = CAST(? AS TEXT) WHERE sequence = ?", v, seq)
						return err
					}))
				}
				set(flipped)
				report, err := s.VerifyAudit(t.Context(), nil)
				check(t, err)
				if report.OK || report.Broken != seq {
					t.Fatalf("record %d, %s byte %d flipped: %+v", seq, column, i, report)
				}
				set([]byte(text))
			}
		}
	}
	if report, err := s.VerifyAudit(t.Context(), nil); err != nil || !report.OK {
		t.Errorf("restored, yet %+v %v", report, err)
	}
}
