package refactor

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// dependencyFields are the members of package.json that map packages to versions.
var dependencyFields = map[string]bool{
	"dependencies": true, "devDependencies": true, "peerDependencies": true, "optionalDependencies": true,
	"resolutions": true, "overrides": true,
}

func replaceInPackageJSON(ctx context.Context, in Input, from, to, version string) ([]workspace.Edit, error) {
	t, err := in.tree(ctx, "json")
	if t == nil || err != nil {
		return nil, err
	}
	var edits []workspace.Edit
	for n := range t.Root().Descendants() {
		if n.Kind() != "pair" || jsonString(n.ChildByField("key")) != from || !in.covers(n) {
			continue
		}
		object := n.Parent()
		holder := object.Parent()
		if holder.Kind() != "pair" || !dependencyFields[jsonString(holder.ChildByField("key"))] {
			continue
		}
		if to == "" || to != from && hasKey(object, to) {
			edits = append(edits, cutListItem(in.Text, n))
			continue
		}
		value := n.ChildByField("value")
		old := jsonString(value)
		if version != "" && value.Kind() == "string" {
			if strings.ContainsAny(old, ":/") {
				return nil, refuse(Unsafe, "in %s the version of %s is %q, which is no version number; change it by hand", in.Path, from, old)
			}
			if next := keepRange(old, version); next != old {
				edits = append(edits, replace(value, quoteJSON(next)))
			}
		}
		if to != from {
			edits = append(edits, replace(n.ChildByField("key"), quoteJSON(to)))
		}
	}
	return sortEdits(edits), nil
}

// keepRange writes a bare version with the operator that the old one had.
func keepRange(old, version string) string {
	if version[0] < '0' || version[0] > '9' {
		return version
	}
	for _, operator := range []string{"^", "~", ">="} {
		if strings.HasPrefix(old, operator) && !strings.ContainsAny(strings.TrimSpace(old), " |") {
			return operator + version
		}
	}
	return version
}

func hasKey(object treesitter.Node, key string) bool {
	for c := range object.NamedChildren() {
		if c.Kind() == "pair" && jsonString(c.ChildByField("key")) == key {
			return true
		}
	}
	return false
}

// jsonString returns the value of a string node, "" for any other.
func jsonString(n treesitter.Node) string {
	var s string
	if n.IsZero() || json.Unmarshal(n.Bytes(), &s) != nil {
		return ""
	}
	return s
}

func quoteJSON(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	// Marshal writes < and > of version ranges as escapes.
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(b))
}
