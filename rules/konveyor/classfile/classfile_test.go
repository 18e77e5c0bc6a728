package classfile

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A pool builds a constant pool.
type pool struct {
	bytes.Buffer
	count uint16
}

func (p *pool) utf8(s string) uint16 {
	p.WriteByte(tagUTF8)
	binary.Write(p, binary.BigEndian, uint16(len(s)))
	p.WriteString(s)
	p.count++
	return p.count
}

func (p *pool) class(name string) uint16 {
	at := p.utf8(name)
	p.WriteByte(tagClass)
	binary.Write(p, binary.BigEndian, at)
	p.count++
	return p.count
}

// build assembles a class file.
func build(name, super string, interfaces []string, fields, methods [][2]string) []byte {
	var p pool
	p.WriteByte(tagLong) // takes two places
	binary.Write(&p, binary.BigEndian, int64(1))
	p.count += 2
	p.WriteByte(tagMethodHandle)
	p.Write([]byte{1, 0, 0})
	p.count++
	var body bytes.Buffer
	u2 := func(v uint16) { binary.Write(&body, binary.BigEndian, v) }
	u2(1)
	u2(p.class(name))
	if super == "" {
		u2(0)
	} else {
		u2(p.class(super))
	}
	u2(uint16(len(interfaces)))
	for _, i := range interfaces {
		u2(p.class(i))
	}
	for _, members := range [][][2]string{fields, methods} {
		u2(uint16(len(members)))
		for _, m := range members {
			u2(1)
			u2(p.utf8(m[0]))
			u2(p.utf8(m[1]))
			u2(1) // one attribute
			u2(p.utf8("Code"))
			binary.Write(&body, binary.BigEndian, uint32(3))
			body.WriteString("abc")
		}
	}
	var out bytes.Buffer
	out.Write([]byte{0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 52})
	binary.Write(&out, binary.BigEndian, p.count+1)
	out.Write(p.Bytes())
	out.Write(body.Bytes())
	return out.Bytes()
}

func sample() []byte {
	return build("lib/Outer$Inner", "lib/Base", []string{"java/io/Serializable", "lib/Map$Entry"},
		[][2]string{{"name", "Ljava/lang/String;"}, {"count", "I"}},
		[][2]string{{"get", "(ILjava/lang/String;)Llib/Thing;"}, {"get", "()V"}, {"all", "()[[Llib/Thing;"}})
}

func TestParse(t *testing.T) {
	got, err := Parse(sample())
	if err != nil {
		t.Fatal(err)
	}
	want := &Class{Name: "lib.Outer.Inner", Super: "lib.Base", Interfaces: []string{"java.io.Serializable", "lib.Map.Entry"},
		Fields:  map[string]string{"name": "java.lang.String", "count": ""},
		Methods: map[string][]string{"get": {"lib.Thing", ""}, "all": {"lib.Thing"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseTruncated(t *testing.T) {
	whole := sample()
	for n := range whole {
		if _, err := Parse(whole[:n]); err == nil {
			t.Errorf("the first %d of %d bytes are a class", n, len(whole))
		}
	}
}

func archive(t *testing.T, entries map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, data := range entries {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReadArchive(t *testing.T) {
	jar := archive(t, map[string][]byte{
		"lib/A.class":                      build("lib/A", "lib/B", nil, nil, nil),
		"lib/broken.class":                 []byte("text"),
		"META-INF/versions/11/lib/A.class": build("lib/A", "lib/Other", nil, nil, nil),
		"META-INF/MANIFEST.MF":             []byte("Manifest-Version: 1.0\n"),
	})
	war := archive(t, map[string][]byte{
		"WEB-INF/lib/a.jar":          jar,
		"WEB-INF/lib/not.jar":        []byte("text"),
		"WEB-INF/classes/C.class":    build("C", "", nil, nil, nil),
		"WEB-INF/lib/nested/ear.ear": archive(t, map[string][]byte{"too/deep.jar": jar}),
	})
	got := map[string]string{}
	if err := ReadArchive(war, func(c *Class) { got[c.Name] = c.Super }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"lib.A": "lib.B", "C": ""}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := ReadArchive([]byte("text"), func(*Class) {}); err == nil {
		t.Error("a text is an archive")
	}
}

func TestArchiveIsBounded(t *testing.T) {
	jar := archive(t, map[string][]byte{"a.class": make([]byte, 1000), "b.class": make([]byte, 1000)})
	b := budget{bytes: 1500, entries: 10}
	if err := b.read(jar, true, func(*Class) {}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	b = budget{bytes: 1 << 20, entries: 1}
	if err := b.read(jar, true, func(*Class) {}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sample())
	f.Fuzz(func(t *testing.T, data []byte) { Parse(data) })
}

func FuzzReadArchive(f *testing.F) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("A.class")
	if err != nil {
		f.Fatal(err)
	}
	w.Write(sample())
	z.Close()
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) { ReadArchive(data, func(*Class) {}) })
}
