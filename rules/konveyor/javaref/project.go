package javaref

import (
	"slices"
	"strings"
	"sync"
)

// A Project is the Java files of one run. Declare or add files first, then ask;
// both may happen in several goroutines, but not mixed.
type Project struct {
	mu    sync.Mutex
	types map[string]*source // guarded by mu while files are declared; qualified name → where

	// Library returns what is known of a type that no file of the project
	// declares, nil for nothing. It is called from several goroutines.
	Library func(name string) *LibraryType
}

// A LibraryType is a type that is only known compiled. Names of types are
// qualified; "" stands for one that says nothing (primitive, a type variable).
type LibraryType struct {
	Supertypes []string
	Fields     map[string]string
	Methods    map[string][]string // what the overloads of a name return
}

func (p *Project) library(name string) *LibraryType {
	if p.Library == nil {
		return nil
	}
	return p.Library(name)
}

// A source is a file that may not have been read yet.
type source struct {
	once sync.Once
	load func() *File
	file *File
}

func (s *source) get() *File {
	s.once.Do(func() {
		if s.load != nil {
			s.file = s.load()
			s.load = nil
		}
	})
	return s.file
}

// NewProject returns an empty project.
func NewProject() *Project { return &Project{types: map[string]*source{}} }

// Add enters a file.
func (p *Project) Add(f *File) {
	p.enter(f.TypeNames(), &source{file: f})
}

// Declare enters the types of a file that is read only if a name leads to it.
// load may return nil.
func (p *Project) Declare(types []string, load func() *File) {
	p.enter(types, &source{load: load})
}

func (p *Project) enter(types []string, s *source) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, name := range types {
		if _, ok := p.types[name]; !ok {
			p.types[name] = s
		}
	}
}

// A typeAt is a type declaration with its file.
type typeAt struct {
	file  *File
	index int
}

func (t typeAt) decl() *typeDecl   { return &t.file.types[t.index] }
func (t typeAt) qualified() string { return t.file.qualify(t.decl().name) }

// lookup finds the declaration of a qualified name; nested types are found by
// their outermost one.
func (p *Project) lookup(name string) (typeAt, bool) {
	for outer := name; outer != ""; {
		if s := p.types[outer]; s != nil {
			if f := s.get(); f != nil {
				for i := range f.types {
					if !f.types[i].anonymous && f.qualify(f.types[i].name) == name {
						return typeAt{f, i}, true
					}
				}
			}
		}
		dot := strings.LastIndexByte(outer, '.')
		if dot < 0 {
			break
		}
		outer = outer[:dot]
	}
	return typeAt{}, false
}

func (p *Project) declares(name string) bool {
	_, ok := p.lookup(name)
	return ok
}

// resolve returns what a type name that is written inside a type can mean: one
// name when that is certain, several when imports leave it open.
func (p *Project) resolve(f *File, owner int, name string) []string {
	first, rest, qualified := strings.Cut(name, ".")
	complete := func(base string) []string {
		if qualified {
			return []string{base + "." + rest}
		}
		return []string{base}
	}
	for t := owner; t >= 0; t = f.types[t].outer {
		outer := f.types[t].name
		if outer == "" {
			continue
		}
		for i := range f.types {
			if !f.types[i].anonymous && f.types[i].name == outer+"."+first {
				return complete(f.qualify(outer + "." + first))
			}
		}
	}
	for i := range f.types {
		if !f.types[i].anonymous && f.types[i].name == first {
			return complete(f.qualify(first))
		}
	}
	if imported, ok := f.single[first]; ok {
		return complete(imported)
	}
	if qualified && !hasUpper(first) {
		return []string{name}
	}
	if own := f.qualify(first); p.declares(own) {
		return complete(own)
	}
	var candidates []string
	for _, imp := range f.imports {
		if !imp.star || imp.static {
			continue
		}
		full := imp.name + "." + first
		if p.declares(full) || p.library(full) != nil {
			return complete(full)
		}
		candidates = append(candidates, complete(full)...)
	}
	candidates = append(candidates, complete("java.lang."+first)...)
	return append(candidates, complete(f.qualify(first))...)
}

// maxChain bounds how far a name is followed through the project.
const maxChain = 40

// typeOf returns what the type of an expression can be; nil when it is unknown.
func (p *Project) typeOf(f *File, owner int, e *expr, depth int) []string {
	if e == nil || depth > maxChain {
		return nil
	}
	switch e.kind {
	case exprNamed:
		return p.resolve(f, owner, e.name)
	case exprThis:
		return p.thisType(f, owner)
	case exprSuper:
		if owner >= 0 && f.types[owner].superclass != "" {
			return p.resolve(f, owner, f.types[owner].superclass)
		}
	case exprVariable:
		for t := owner; t >= 0; t = f.types[t].outer {
			if types, ok := p.member(typeAt{f, t}, depth, func(d *typeDecl) (*expr, bool) { e, ok := d.fields[e.name]; return e, ok }); ok {
				return types
			}
		}
		if _, imported := f.single[e.name]; imported || hasUpper(e.name[:1]) {
			return p.resolve(f, owner, e.name)
		}
	case exprFieldOf:
		types := p.typeOf(f, owner, e.base, depth+1)
		found := p.memberOf(types, depth, func(d *typeDecl) (*expr, bool) {
			field, ok := d.fields[e.name]
			return field, ok
		})
		if found == nil {
			found = p.libraryMember(types, func(t *LibraryType) (string, bool) { name, ok := t.Fields[e.name]; return name, ok })
		}
		return found
	case exprCallOf:
		method := func(d *typeDecl) (*expr, bool) {
			if returns := d.methods[e.name]; len(returns) > 0 {
				return returns[0], true
			}
			return nil, false
		}
		if e.base != nil {
			types := p.typeOf(f, owner, e.base, depth+1)
			found := p.memberOf(types, depth, method)
			if found == nil {
				found = p.libraryMember(types, func(t *LibraryType) (string, bool) { return returned(t.Methods[e.name]) })
			}
			return found
		}
		for t := owner; t >= 0; t = f.types[t].outer {
			if types, ok := p.member(typeAt{f, t}, depth, method); ok {
				return types
			}
		}
		return p.libraryMember(p.thisType(f, owner), func(t *LibraryType) (string, bool) { return returned(t.Methods[e.name]) })
	}
	return nil
}

func (p *Project) thisType(f *File, owner int) []string {
	if owner < 0 {
		return nil
	}
	if t := f.types[owner]; t.anonymous {
		return p.resolve(f, t.outer, t.superclass)
	}
	return []string{f.qualify(f.types[owner].name)}
}

// memberOf looks a member up in the types that the project declares.
func (p *Project) memberOf(types []string, depth int, get func(*typeDecl) (*expr, bool)) []string {
	for _, name := range types {
		if t, ok := p.lookup(name); ok {
			if found, ok := p.member(t, depth, get); ok {
				return found
			}
		}
	}
	return nil
}

// returned is the type that all overloads of a method return.
func returned(types []string) (string, bool) {
	for _, t := range types {
		if t != types[0] {
			return "", true
		}
	}
	if len(types) == 0 {
		return "", false
	}
	return types[0], true
}

// libraryMember looks a member up in library types, of project types in those
// they inherit from. What is declared as Object may be a type variable.
func (p *Project) libraryMember(types []string, get func(*LibraryType) (string, bool)) []string {
	if p.Library == nil {
		return nil
	}
	for _, name := range types {
		names := p.climb(nil, name)
		if t, ok := p.lookup(name); ok {
			names = p.external(t)
		}
		for _, n := range names {
			t := p.library(n)
			if t == nil {
				continue
			}
			if found, ok := get(t); ok {
				if found == "" || found == "java.lang.Object" {
					return nil
				}
				return []string{found}
			}
		}
	}
	return nil
}

// member looks a member up in a type and in the supertypes that the project
// declares, and returns the member's type.
func (p *Project) member(t typeAt, depth int, get func(*typeDecl) (*expr, bool)) (types []string, ok bool) {
	p.ancestors(t, func(a typeAt) bool {
		var e *expr
		if e, ok = get(a.decl()); ok {
			types = p.typeOf(a.file, a.index, e, depth+1)
		}
		return !ok
	})
	return types, ok
}

// ancestors calls yield with t and every supertype that the project declares,
// nearest first, until it returns false.
func (p *Project) ancestors(t typeAt, yield func(typeAt) bool) {
	seen := map[typeAt]bool{t: true}
	for queue := []typeAt{t}; len(queue) > 0; queue = queue[1:] {
		if !yield(queue[0]) {
			return
		}
		for _, name := range p.supers(queue[0]) {
			if next, ok := p.lookup(name); ok && !seen[next] && len(seen) < 200 {
				seen[next] = true
				queue = append(queue, next)
			}
		}
	}
}

// supers returns what the direct supertypes of t can be.
func (p *Project) supers(t typeAt) []string {
	d := t.decl()
	scope := t.index
	if d.anonymous {
		scope = d.outer
	}
	var out []string
	if d.superclass != "" {
		out = append(out, p.resolve(t.file, scope, d.superclass)...)
	}
	for _, name := range d.interfaces {
		out = append(out, p.resolve(t.file, scope, name)...)
	}
	return out
}

// external returns the supertypes of t that the project does not declare, with
// what is known of theirs.
func (p *Project) external(t typeAt) []string {
	var out []string
	p.ancestors(t, func(a typeAt) bool {
		for _, name := range p.supers(a) {
			if !p.declares(name) {
				out = p.climb(out, name)
			}
		}
		return true
	})
	return out
}

// climb adds a library type and its known supertypes to list.
func (p *Project) climb(list []string, name string) []string {
	for queue := []string{name}; len(queue) > 0 && len(list) < 1000; queue = queue[1:] {
		if slices.Contains(list, queue[0]) {
			continue
		}
		list = append(list, queue[0])
		if t := p.library(queue[0]); t != nil {
			queue = append(queue, t.Supertypes...)
		}
	}
	return list
}
