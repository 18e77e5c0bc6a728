package rules

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules/builtin"
	"github.com/kaiak/kaiak/rules/internal/yamldoc"
)

// A Pack is a set of rules that ships with the binary.
type Pack struct {
	ID          string
	Title       string
	Description string
	Default     bool    // "builtin" has it where it concerns the project
	Concerns    Concern // which projects it is for; empty: all
}

// packFile describes the pack of its folder.
const packFile = "pack.yml"

// Packs returns the built-in packs, by id.
func Packs() ([]Pack, error) {
	files, err := fs.Glob(builtin.FS, "*/"+packFile)
	if err != nil {
		return nil, err
	}
	var out []Pack
	for _, f := range files {
		text, err := fs.ReadFile(builtin.FS, f)
		if err != nil {
			return nil, err
		}
		p, err := readPack(text)
		if err != nil {
			return nil, fmt.Errorf("built-in pack %s: %w", f, err)
		}
		if p.ID != path.Dir(f) {
			return nil, fmt.Errorf("built-in pack %s calls itself %q; the folder has to have that name", f, p.ID)
		}
		out = append(out, p)
	}
	return out, nil
}

func readPack(text []byte) (Pack, error) {
	docs, err := yamldoc.Parse(text)
	if err != nil {
		return Pack{}, err
	}
	if len(docs) != 1 {
		return Pack{}, fmt.Errorf("%d documents, not one", len(docs))
	}
	doc := docs[0]
	if err := doc.Keys("a pack", "id", "title", "description", "default", "appliesWhen"); err != nil {
		return Pack{}, err
	}
	var p Pack
	for key, into := range map[string]*string{"id": &p.ID, "title": &p.Title, "description": &p.Description} {
		n := doc.Get(key)
		if n == nil {
			return Pack{}, doc.Errorf("a pack must have `%s`", key)
		}
		if *into, err = n.Str("`" + key + "`"); err != nil {
			return Pack{}, err
		}
	}
	if n := doc.Get("default"); n != nil {
		if p.Default, err = n.Bool("`default`"); err != nil {
			return Pack{}, err
		}
	}
	when := doc.Get("appliesWhen")
	if when == nil || when.Kind == yamldoc.Null {
		return p, nil
	}
	if err := when.Keys("`appliesWhen`", "files", "imports", "languages", "dependencies"); err != nil {
		return Pack{}, err
	}
	for key, into := range map[string]*[]string{"files": &p.Concerns.Files, "imports": &p.Concerns.Imports, "languages": &p.Concerns.Languages, "dependencies": &p.Concerns.Dependencies} {
		if n := when.Get(key); n != nil {
			if *into, err = n.Strs("`" + key + "`"); err != nil {
				return Pack{}, err
			}
		}
	}
	return p, nil
}

// builtin loads "builtin" or "builtin:PACK".
func (l *loader) builtin(ctx context.Context, source string) error {
	packs, err := Packs()
	if err != nil {
		return err
	}
	_, id, named := strings.Cut(source, ":")
	hit := false
	for _, p := range packs {
		if named && p.ID != id {
			continue
		}
		hit = true
		if !named {
			if !p.Default {
				continue
			}
			concerns, err := l.concerns(ctx, p, packs)
			if err != nil {
				return err
			}
			if !concerns {
				continue
			}
		}
		if err := l.dir(builtin.FS, p.ID, Builtin+"/"+p.ID, p.ID); err != nil {
			return err
		}
	}
	if named && !hit {
		var ids []string
		for _, p := range packs {
			ids = append(ids, p.ID)
		}
		return fmt.Errorf("rules %s: there is no such pack; there are %s", source, strings.Join(ids, ", "))
	}
	return nil
}

// PackProblems loads every built-in pack, as their tests do, and returns what
// cannot be loaded.
func PackProblems(ctx context.Context) ([]incidents.Problem, error) {
	packs, err := Packs()
	if err != nil {
		return nil, err
	}
	var problems []incidents.Problem
	for _, p := range packs {
		_, found, err := Load(ctx, []string{Builtin + ":" + p.ID}, LoadOptions{})
		if err != nil {
			return nil, err
		}
		problems = append(problems, found...)
	}
	return problems, nil
}
