package lsp

import (
	"bytes"
	"context"

	"go.lsp.dev/protocol"

	"github.com/kaiak/kaiak/kaiak"
	"github.com/kaiak/kaiak/workspace"
)

// editLabel names our edits in the client's undo list.
const editLabel = "Kaiak"

// EditBuffer asks the client to apply edits to a document that it has open,
// given by its URI: one workspace/applyEdit for one file. The document must
// still be the text at the version that the edits are for.
func (f front) EditBuffer(ctx context.Context, name string, version int32, text []byte, edits []workspace.Edit) error {
	doc := f.docs.get(name)
	if doc == nil || doc.version != version || !bytes.Equal(doc.text, text) {
		return kaiak.Errorf(kaiak.ContentModified, "%s is no longer open at version %d with the text the edit is for", name, version)
	}
	return f.applyEdit(ctx, editLabel, f.workspaceEdit(doc, edits, editLabel))
}

// applyEdit sends one workspace/applyEdit. A nil error says that the client was
// asked and did not object; what became of the text, only didChange tells.
func (s *server) applyEdit(ctx context.Context, label string, edit *protocol.WorkspaceEdit) error {
	if !s.caps.applyEdit {
		return kaiak.Errorf(kaiak.FileModificationFailed, "the editor does not offer workspace/applyEdit; close the file to have it changed on disk")
	}
	params := &protocol.ApplyWorkspaceEditParams{Edit: *edit}
	if label != "" {
		params.Label = &label
	}
	var answer protocol.ApplyWorkspaceEditResult
	if err := s.conn.request(ctx, "workspace/applyEdit", params, &answer); err != nil {
		return err
	}
	if !answer.Applied {
		reason := "it gave no reason"
		if answer.FailureReason != nil && *answer.FailureReason != "" {
			reason = *answer.FailureReason
		}
		return kaiak.Errorf(kaiak.FileModificationFailed, "the editor did not apply the edit: %s", reason)
	}
	return nil
}
