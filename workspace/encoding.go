package workspace

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// utf8BOM is the mark that some editors put in front of UTF-8.
var utf8BOM = []byte("\xef\xbb\xbf")

// TextEncoding names how the bytes of a file are text.
type TextEncoding string

// The encodings that are told apart.
const (
	UTF8Text    TextEncoding = "utf-8"
	UTF8BOMText TextEncoding = "utf-8-bom"
	UTF16LEText TextEncoding = "utf-16le"
	UTF16BEText TextEncoding = "utf-16be"
	UTF32Text   TextEncoding = "utf-32"
	NotText     TextEncoding = "binary"  // has a NUL
	OtherText   TextEncoding = "unknown" // some 8-bit encoding, or damaged UTF-8
)

// DetectEncoding looks at all of text. For OtherText and NotText, at is the
// offset of the first byte that is not UTF-8 text.
func DetectEncoding(text []byte) (enc TextEncoding, at int) {
	switch {
	case bytes.HasPrefix(text, []byte("\xff\xfe\x00\x00")), bytes.HasPrefix(text, []byte("\x00\x00\xfe\xff")):
		return UTF32Text, 0
	case bytes.HasPrefix(text, []byte("\xff\xfe")):
		return UTF16LEText, 0
	case bytes.HasPrefix(text, []byte("\xfe\xff")):
		return UTF16BEText, 0
	}
	if nul := bytes.IndexByte(text, 0); nul >= 0 {
		return NotText, nul
	}
	if !utf8.Valid(text) {
		for at < len(text) {
			r, n := utf8.DecodeRune(text[at:])
			if r == utf8.RuneError && n == 1 {
				break
			}
			at += n
		}
		return OtherText, at
	}
	if bytes.HasPrefix(text, utf8BOM) {
		return UTF8BOMText, 0
	}
	return UTF8Text, 0
}

// EncodingError says why a file is left as it is: only UTF-8 is edited, because
// a wrong guess would damage bytes that nobody meant to change.
type EncodingError struct {
	Path     string
	Encoding TextEncoding
	Offset   int // of the first byte that is not UTF-8 text
}

func (e *EncodingError) Error() string {
	switch e.Encoding {
	case NotText:
		return fmt.Sprintf("%q is a binary file (NUL at byte %d); it is left untouched", e.Path, e.Offset)
	case OtherText:
		return fmt.Sprintf("%q is not UTF-8 (byte %d); it is left untouched: convert it to UTF-8 first", e.Path, e.Offset)
	}
	return fmt.Sprintf("%q is %s; it is left untouched: convert it to UTF-8 first", e.Path, e.Encoding)
}

// CheckEditable returns an [*EncodingError] when text is not UTF-8, with or
// without a byte order mark.
func CheckEditable(path string, text []byte) error {
	switch enc, at := DetectEncoding(text); enc {
	case UTF8Text, UTF8BOMText:
		return nil
	default:
		return &EncodingError{path, enc, at}
	}
}

// IsBinary reports whether text looks binary to git: a NUL in the first 8,000
// bytes. UTF-16 and UTF-32 look so too.
func IsBinary(text []byte) bool {
	return bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0
}

// byteSize writes a limit for people.
func byteSize(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
