// Package classfile reads what compiled Java classes declare: their supertypes,
// and the types of their fields and methods. [Parse] reads one class,
// [ReadArchive] those of a jar, war or ear and of the jars in it.
//
// It reads declarations only, never code, and bounds what an archive may
// expand to.
package classfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// A Class is what a class file declares. Names are qualified and dotted, nested
// classes too: "java.util.Map.Entry".
type Class struct {
	Name       string
	Super      string // "" for java.lang.Object and for interfaces
	Interfaces []string
	Fields     map[string]string   // name → type; primitive types and arrays of them are ""
	Methods    map[string][]string // name → what the overloads return; void and primitive types are ""
}

// errTruncated is a class file that ends too early.
var errTruncated = errors.New("the class file is cut off")

// Parse reads a class file.
func Parse(data []byte) (*Class, error) {
	r := reader{data: data}
	if r.u4() != 0xCAFEBABE {
		return nil, errors.New("is no class file")
	}
	r.skip(4) // version
	if err := r.constants(); err != nil {
		return nil, err
	}
	r.skip(2) // access
	c := &Class{Fields: map[string]string{}, Methods: map[string][]string{}}
	c.Name = r.class(r.u2())
	c.Super = r.class(r.u2())
	if c.Super == "java.lang.Object" {
		c.Super = ""
	}
	for range r.u2() {
		c.Interfaces = append(c.Interfaces, r.class(r.u2()))
		if r.failed {
			return nil, errTruncated
		}
	}
	r.members(func(name, descriptor string) { c.Fields[name] = typeName(descriptor) })
	r.members(func(name, descriptor string) {
		if i := strings.IndexByte(descriptor, ')'); i >= 0 {
			c.Methods[name] = append(c.Methods[name], typeName(descriptor[i+1:]))
		}
	})
	if r.failed {
		return nil, errTruncated
	}
	if c.Name == "" {
		return nil, errors.New("the class has no name")
	}
	return c, nil
}

// typeName returns the class of a descriptor, of an array that of its elements.
func typeName(descriptor string) string {
	descriptor = strings.TrimLeft(descriptor, "[")
	if strings.HasPrefix(descriptor, "L") && strings.HasSuffix(descriptor, ";") {
		return dotted(descriptor[1 : len(descriptor)-1])
	}
	return ""
}

// dotted turns "a/b/C$D" into "a.b.C.D".
func dotted(internal string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r == '$' {
			return '.'
		}
		return r
	}, internal)
}

// Tags of the constant pool.
const (
	tagUTF8               = 1
	tagInteger            = 3
	tagFloat              = 4
	tagLong               = 5
	tagDouble             = 6
	tagClass              = 7
	tagString             = 8
	tagFieldref           = 9
	tagMethodref          = 10
	tagInterfaceMethodref = 11
	tagNameAndType        = 12
	tagMethodHandle       = 15
	tagMethodType         = 16
	tagDynamic            = 17
	tagInvokeDynamic      = 18
	tagModule             = 19
	tagPackage            = 20
)

// reader reads big-endian numbers; after the end it returns zeros and has failed.
type reader struct {
	data   []byte
	at     int
	failed bool
	texts  map[uint16]string
	names  map[uint16]uint16 // class → its name
}

func (r *reader) take(n int) []byte {
	if r.failed || n < 0 || n > len(r.data)-r.at {
		r.failed = true
		return nil
	}
	b := r.data[r.at : r.at+n]
	r.at += n
	return b
}

func (r *reader) skip(n int) { r.take(n) }

func (r *reader) u1() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) u2() uint16 {
	if b := r.take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (r *reader) u4() uint32 {
	if b := r.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (r *reader) constants() error {
	r.texts, r.names = map[uint16]string{}, map[uint16]uint16{}
	count := r.u2()
	for i := uint16(1); i < count; i++ {
		switch tag := r.u1(); tag {
		case tagUTF8:
			r.texts[i] = string(r.take(int(r.u2())))
		case tagClass:
			r.names[i] = r.u2()
		case tagString, tagMethodType, tagModule, tagPackage:
			r.skip(2)
		case tagMethodHandle:
			r.skip(3)
		case tagInteger, tagFloat, tagFieldref, tagMethodref, tagInterfaceMethodref, tagNameAndType, tagDynamic, tagInvokeDynamic:
			r.skip(4)
		case tagLong, tagDouble:
			r.skip(8)
			i++ // they take two places
		default:
			if r.failed {
				return errTruncated
			}
			return fmt.Errorf("constant %d has the unknown tag %d", i, tag)
		}
	}
	if r.failed {
		return errTruncated
	}
	return nil
}

func (r *reader) class(index uint16) string { return dotted(r.texts[r.names[index]]) }

// members reads the fields or the methods.
func (r *reader) members(visit func(name, descriptor string)) {
	for range r.u2() {
		r.skip(2) // access
		name, descriptor := r.texts[r.u2()], r.texts[r.u2()]
		for range r.u2() { // attributes
			r.skip(2)
			r.skip(int(r.u4()))
			if r.failed {
				return
			}
		}
		if r.failed {
			return
		}
		visit(name, descriptor)
	}
}
