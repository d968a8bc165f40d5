package plan

import (
	"encoding/binary"

	"github.com/kith-wire/kith/shape/internal/wire"
)

// readPlain reads into a row where the members come in our order, all of them and no other, and compact. It answers false, and has
// moved nowhere, where something else comes, or perhaps does: then what is in the row is of no use.
func (s *structOf) readPlain(d *decoder, r *row) (is bool, err error) {
	if !s.flat {
		return false, nil
	}
	before := d.B
	if d.Enc == wire.JSON {
		is, err = s.readJSON(d, r)
	} else {
		is, err = s.readCBOR(d, r)
	}
	if !is {
		d.B = before
	}
	return is, err
}

func (s *structOf) readJSON(d *decoder, r *row) (bool, error) {
	b := d.all
	i := len(b) - len(d.B)
	for j := range r.fields {
		f, lead := &r.fields[j], &s.members[j].leadJSON
		if !lead.begins(b[i:]) {
			return false, nil
		}
		i += len(lead.text)
		if f.text != nil && b[i] == '"' {
			if end := wire.TextEnd(b, i+1); b[end] == '"' {
				*f.text = d.cut(i+1, end)
				i = end + 1
				continue
			}
		}
		d.B = b[i:]
		if err := s.members[j].readValue(d, f); err != nil {
			return true, err
		}
		i = len(b) - len(d.B)
	}
	if b[i] != '}' {
		return false, nil
	}
	d.B = b[i+1:]
	return true, nil
}

func (s *structOf) readCBOR(d *decoder, r *row) (bool, error) {
	b := d.all
	i := len(b) - len(d.B)
	for j := range r.fields {
		f, lead := &r.fields[j], &s.members[j].leadCBOR
		if !lead.begins(b[i:]) {
			return false, nil
		}
		i += len(lead.text)
		if f.text != nil {
			from, n := i+1, int(b[i])-wire.MajorText
			if n == 24 {
				from, n = i+2, int(b[i+1])
			} else if n > 24 {
				n = -1
			}
			if n >= 0 {
				i = from + n
				*f.text = d.cut(from, i)
				continue
			}
		}
		d.B = b[i:]
		if err := s.members[j].readValue(d, f); err != nil {
			return true, err
		}
		i = len(b) - len(d.B)
	}
	d.B = b[i:]
	return true, nil
}

// readValue reads a member that is not a plain text.
func (m *member) readValue(d *decoder, f *field) error {
	if f.int64 != nil {
		if v, is := d.Small(); is {
			*f.int64 = v
			return nil
		}
	}
	if err := m.plan.decode(d, f.value); err != nil {
		return inMember(m.name, err)
	}
	return nil
}

// writePlain writes a row all of whose members are written, whatever they hold. It answers false, and has written nothing, where
// it does not know how, or where there is no room for one more.
func (s *structOf) writePlain(e *encoder, r *row) (bool, error) {
	if !s.always || len(r.fields) == 0 || e.left.Depth <= 0 || len(r.fields) > e.left.Items {
		return false, nil
	}
	hops := e.hops
	e.left.Items -= len(r.fields)
	e.left.Depth--
	e.hops = 0
	dst := e.dst
	for j := range r.fields {
		f, m := &r.fields[j], &s.members[j]
		if e.enc == wire.JSON {
			dst = m.leadJSON.append(dst)
		} else {
			dst = m.leadCBOR.append(dst)
		}
		if f.text != nil {
			var is bool
			if dst, is = wire.AppendPlain(dst, e.enc, *f.text); is {
				continue
			}
		}
		e.dst = dst
		if err := f.write(e, m, f.value); err != nil {
			return true, inMember(m.name, err)
		}
		dst = e.dst
	}
	e.dst = wire.AppendMapClose(dst, e.enc)
	e.left.Depth++
	e.hops = hops
	return true, nil
}

// append appends the prefix.
func (p *prefix) append(dst []byte) []byte {
	n := len(dst)
	if len(p.text) > 16 || cap(dst)-n < 16 {
		return append(dst, p.text...)
	}
	out := dst[n : n+16]
	binary.LittleEndian.PutUint64(out, p.words[0])
	binary.LittleEndian.PutUint64(out[8:], p.words[1])
	return dst[:n+len(p.text)]
}
