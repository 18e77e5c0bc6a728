package matcher

// Kinds is a set of node kinds. The zero value is the set of all kinds.
type Kinds struct {
	limited bool
	bits    []uint64
}

func oneKind(kind uint16) Kinds {
	k := Kinds{limited: true}
	k.add(kind)
	return k
}

func (k *Kinds) add(kind uint16) {
	word := int(kind >> 6)
	for len(k.bits) <= word {
		k.bits = append(k.bits, 0)
	}
	k.bits[word] |= 1 << (kind & 63)
}

// Limited reports whether there is any kind that is not in the set.
func (k Kinds) Limited() bool { return k.limited }

// Has reports whether kind is in the set.
func (k Kinds) Has(kind uint16) bool {
	if !k.limited {
		return true
	}
	word := int(kind >> 6)
	return word < len(k.bits) && k.bits[word]&(1<<(kind&63)) != 0
}

// Each calls visit for every kind of a limited set, in ascending order.
func (k Kinds) Each(visit func(kind uint16)) {
	for word, bits := range k.bits {
		for bit := 0; bit < 64; bit++ {
			if bits&(1<<bit) != 0 {
				visit(uint16(word<<6 | bit))
			}
		}
	}
}

func (k Kinds) intersect(other Kinds) Kinds {
	if !k.limited {
		return other
	}
	if !other.limited {
		return k
	}
	out := Kinds{limited: true}
	for i := 0; i < len(k.bits) && i < len(other.bits); i++ {
		out.bits = append(out.bits, k.bits[i]&other.bits[i])
	}
	return out
}

func (k Kinds) union(other Kinds) Kinds {
	if !k.limited || !other.limited {
		return Kinds{}
	}
	out := Kinds{limited: true, bits: make([]uint64, max(len(k.bits), len(other.bits)))}
	copy(out.bits, k.bits)
	for i, b := range other.bits {
		out.bits[i] |= b
	}
	return out
}
