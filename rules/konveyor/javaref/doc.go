// Package javaref answers java.referenced: where Java source refers to types,
// methods, constructors, annotations, packages, fields and enum constants.
//
// [Extract] reads a syntax tree into a [File]: declarations and references with
// their names as written. [CompilePattern] reads a pattern of a rule. A
// [Project] holds the files of one run and resolves names across them;
// [Project.Find] returns what a [Query] matches in one file.
//
// Names are resolved by imports, by the scopes of variables, by the project's own
// declarations and by what [Project.Library] tells of compiled classes. Where
// that does not give the type that a method is called on, the call counts when
// the file imports the type that the pattern names. The package reads no files
// itself.
package javaref
