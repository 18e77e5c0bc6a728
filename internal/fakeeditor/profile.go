package fakeeditor

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/kaiak/kaiak/workspace"
)

// A Profile is what one editor declares and how it behaves, as logged from its
// real traffic.
type Profile struct {
	Name         string
	Capabilities string // JSON of ClientCapabilities

	// Pulls: it asks for diagnostics by itself where the server offers that.
	Pulls bool

	// SaysApplied: it answers workspace/applyEdit with applied: true even when
	// it refused a stale edit.
	SaysApplied bool

	// Configuration answers workspace/configuration for the section "kaiak"; ""
	// answers null.
	Configuration string
}

// Profiles are the editors that the tests run as.
var Profiles = []Profile{VSCode, Neovim07, Neovim010, Neovim012, Eglot, Helix}

// The editors.
var (
	VSCode = Profile{
		Name: "Visual Studio Code", Pulls: true,
		Capabilities: capabilities{
			encodings: []string{"utf-16"}, documentChanges: true, annotations: true,
			resolve: []string{"edit", "command"}, disabled: true, preferred: true,
			pull: true, refresh: true, data: true, href: true, version: true, tags: true,
			watch: true, lens: true, configuration: true,
		}.json(),
	}
	Neovim07 = Profile{
		Name: "Neovim 0.7", SaysApplied: true,
		Capabilities: capabilities{resolve: []string{"edit"}, tags: true, configuration: true}.json(),
	}
	Neovim010 = Profile{
		Name: "Neovim 0.10", Pulls: true, SaysApplied: true,
		Capabilities: capabilities{
			encodings: []string{"utf-16"}, resolve: []string{"edit"}, preferred: true,
			pull: true, href: true, tags: true, configuration: true,
		}.json(),
	}
	Neovim012 = Profile{
		Name: "Neovim 0.12", Pulls: true, SaysApplied: true,
		Capabilities: capabilities{
			encodings: []string{"utf-8", "utf-16", "utf-32"}, annotations: true,
			resolve: []string{"edit", "command"}, disabled: true, preferred: true,
			pull: true, refresh: true, href: true, tags: true, lens: true, configuration: true,
		}.json(),
	}
	Eglot = Profile{
		Name: "Eglot",
		Capabilities: capabilities{
			encodings: []string{"utf-32", "utf-8", "utf-16"}, documentChanges: true,
			resolve: []string{"edit", "command"}, preferred: true, tags: true, watch: true, configuration: true,
		}.json(),
	}
	Helix = Profile{
		Name: "Helix",
		Capabilities: capabilities{
			encodings: []string{"utf-8", "utf-32", "utf-16"}, documentChanges: true,
			resolve: []string{"edit", "command"}, disabled: true, preferred: true, version: true, tags: true,
			watch: true, configuration: true,
		}.json(),
	}
)

// Bare is a client that declares nothing at all.
var Bare = Profile{Name: "bare", Capabilities: "{}"}

// capabilities are the ways in which editors differ.
type capabilities struct {
	encodings                    []string
	documentChanges, annotations bool
	resolve                      []string
	disabled, preferred          bool
	pull, refresh                bool
	data, href, version, tags    bool
	watch, lens, configuration   bool
}

type object = map[string]any

// json writes the capabilities as ClientCapabilities.
func (c capabilities) json() string {
	edit := object{
		"documentChanges":    c.documentChanges,
		"resourceOperations": []string{"create", "rename", "delete"},
	}
	if c.annotations {
		edit["changeAnnotationSupport"] = object{"groupsOnLabel": true}
	}
	action := object{
		"codeActionLiteralSupport": object{"codeActionKind": object{"valueSet": []string{"", "quickfix", "refactor.rewrite", "source.fixAll"}}},
		"dataSupport":              true,
		"resolveSupport":           object{"properties": c.resolve},
		"isPreferredSupport":       c.preferred,
		"disabledSupport":          c.disabled,
	}
	publish := object{"versionSupport": c.version, "dataSupport": c.data, "codeDescriptionSupport": c.href}
	if c.tags {
		publish["tagSupport"] = object{"valueSet": []int{1, 2}}
	}
	document := object{
		"synchronization":    object{"didSave": true},
		"codeAction":         action,
		"publishDiagnostics": publish,
	}
	space := object{
		"applyEdit": true, "workspaceEdit": edit, "workspaceFolders": true, "configuration": c.configuration,
		"didChangeWatchedFiles": object{"dynamicRegistration": c.watch},
	}
	if c.pull {
		document["diagnostic"] = object{}
		space["diagnostics"] = object{"refreshSupport": c.refresh}
	}
	if c.lens {
		document["codeLens"] = object{}
		space["codeLens"] = object{"refreshSupport": true}
	}
	all := object{"workspace": space, "textDocument": document, "window": object{"workDoneProgress": true}}
	if c.encodings != nil {
		all["general"] = object{"positionEncodings": c.encodings}
	}
	raw, err := json.Marshal(all)
	if err != nil {
		panic(err) // the table above is made of what JSON knows
	}
	return string(raw)
}

// encoding reads what the server chose.
func encoding(chosen string) (workspace.PositionEncoding, error) {
	switch e := workspace.PositionEncoding(strings.ToLower(chosen)); e {
	case "":
		return workspace.UTF16, nil
	case workspace.UTF8, workspace.UTF16, workspace.UTF32:
		return e, nil
	}
	return "", fmt.Errorf("the server chose the encoding %q, which nobody offers", chosen)
}
