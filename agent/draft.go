package agent

import (
	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/workspace"
)

// A Draft is a fix that nobody has checked yet. [Fixer.Inspect] makes a
// [Candidate] of it or says what is wrong with it.
type Draft struct {
	Engine      EngineName
	Incidents   []incidents.Incident // the ones it claims to fix
	RuleIDs     []string             // the rules that made it, if rules did
	Description string               // one line, what will change
	Category    Category
	Files       []DraftFile
	Hunks       []rules.Hunk // in the order of files and offsets; together exactly the edits of Files

	Relaxed     bool // the edits were found by a relaxed match of the old text
	Repairs     int  // how many earlier drafts were rejected
	Truncated   bool // the model did not see all it should have
	OutOfRegion bool // some edits lie outside the incidents' declarations and the imports
}

// A DraftFile is what a draft does to one file.
type DraftFile struct {
	Kind  workspace.ChangeKind
	Path  string
	Base  *workspace.File  // the text that Edits are against; nil for a new file
	Edits []workspace.Edit // EditFile
	Text  []byte           // CreateFile: the whole content
}

// A Flaw is one reason for which a draft is no candidate.
type Flaw struct {
	Check   string // CheckApply, CheckParse, …
	Path    string
	Line    int    // 1-based, in the result; 0: the file as a whole
	Message string // for people, and for the model that is to repair it
}

func (f Flaw) Error() string {
	return f.Path + ": " + f.Message
}
