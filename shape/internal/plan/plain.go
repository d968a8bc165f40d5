package plan

import (
	"reflect"
	"slices"

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
	leads, texts := s.leads.inJSON, r.texts
	for j := 0; j < len(leads) && j < len(texts); j++ {
		lead := &leads[j]
		if !lead.Begins(b[i:]) {
			return false, nil
		}
		i += len(lead.Text)
		if text := texts[j]; text != nil && b[i] == '"' {
			if end := d.textEnd(i + 1); b[end] == '"' {
				*text = d.cut(i+1, end)
				i = end + 1
				continue
			}
		}
		d.B = b[i:]
		if err := s.members[j].readValue(d, &r.fields[j]); err != nil {
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
	leads, texts := s.leads.inCBOR, r.texts
	for j := 0; j < len(leads) && j < len(texts); j++ {
		lead := &leads[j]
		if !lead.Begins(b[i:]) {
			return false, nil
		}
		i += len(lead.Text)
		if text := texts[j]; text != nil && b[i]-wire.MajorText <= 24 {
			from, n := i+1, int(b[i]-wire.MajorText)
			if n == 24 {
				from, n = i+2, int(b[i+1])
			}
			i = from + n
			*text = d.cut(from, i)
			continue
		}
		d.B = b[i:]
		if err := s.members[j].readValue(d, &r.fields[j]); err != nil {
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
	dst, json := e.dst, e.enc == wire.JSON
	leads := s.leads.ofCBOR
	if json {
		leads = s.leads.ofJSON
	}
	for j := 0; j < len(leads) && j < len(r.texts); j++ {
		lead := &leads[j]
		if text := r.texts[j]; text != nil {
			var is bool
			if json {
				dst, is = lead.AppendJSON(dst, *text)
			} else {
				dst, is = lead.AppendCBOR(dst, *text)
			}
			if is {
				continue
			}
			if e.dst = lead.Append(dst); json {
				e.dst = e.dst[:len(e.dst)-1] // the quote is the text's
			}
			if err := e.text(*text); err != nil {
				return true, inMember(s.members[j].name, err)
			}
			dst = e.dst
			continue
		}
		e.dst = lead.Append(dst)
		m, f := &s.members[j], &r.fields[j]
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

// leads are what stands before the value of each member where all members come in our order.
type leads struct {
	inJSON, inCBOR []wire.Lead // where they are read
	ofJSON, ofCBOR []wire.Lead // where they are written: JSON's has the quote of a text
}

func (s *structOf) makeLeads(t reflect.Type) {
	for i := range s.members {
		m := &s.members[i]
		json, cbor := m.json, m.cbor
		if i == 0 { // it opens the map
			json = append([]byte{'{'}, m.json[1:]...)
			cbor = append(wire.AppendMapOpen(nil, wire.CBOR, len(s.members)), m.cbor...)
		}
		s.leads.inJSON = append(s.leads.inJSON, wire.LeadOf(json))
		s.leads.inCBOR = append(s.leads.inCBOR, wire.LeadOf(cbor))
		if isText(t, m) {
			json = append(slices.Clip(json), '"')
		}
		s.leads.ofJSON = append(s.leads.ofJSON, wire.LeadOf(json))
	}
	s.leads.ofCBOR = s.leads.inCBOR
}

// isText reports whether a member is a field whose address a row has as that of a text.
func isText(t reflect.Type, m *member) bool {
	return len(m.index) == 1 && m.plan.plain && t.Field(m.index[0]).Type.Kind() == reflect.String
}
