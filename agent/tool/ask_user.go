package tool

import (
	"context"
	"strings"
)

type askParams struct {
	Question string   `json:"question" jsonschema_description:"One short question."`
	Choices  []string `json:"choices,omitempty" jsonschema_description:"The answers to choose from; leave out for a free answer."`
}

// Limits of one question, so that a user can read it.
const (
	longestQuestion = 1000
	mostChoices     = 8
)

func askUser(ctx context.Context, b *Box, p askParams) output {
	switch {
	case b.env.Ask == nil:
		return failure("there is nobody to ask; decide by what the code says, or leave the incident alone")
	case strings.TrimSpace(p.Question) == "":
		return failure("question is empty")
	case len(p.Question) > longestQuestion || len(p.Choices) > mostChoices:
		return failure("ask in at most %d characters, with at most %d choices", longestQuestion, mostChoices)
	}
	answer, answered := b.env.Ask(ctx, p.Question, p.Choices)
	if !answered {
		return failure("the user did not answer; decide by what the code says, or leave the incident alone")
	}
	return output{text: "The user answered: " + answer, ok: true, whole: true}
}
