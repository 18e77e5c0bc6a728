package incidents

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// ReadSARIF reads SARIF 2.1.0. A record that is broken is reported with its
// position ("runs[0].results[3]") and costs only itself; of a file that ends in
// the middle, what comes before is kept.
//
// Results of kind pass, informational and notApplicable, absent ones and
// suppressed ones are hidden; [Options] can show or hide more.
func ReadSARIF(data []byte, opts Options) *Report {
	r := newReader(opts, SARIF)
	top, whole := members(repair(data, recordShapes[SARIF]))
	if !whole {
		r.problem(fmt.Sprintf("byte %d", len(data)), "the file ends in the middle or its brackets do not match; what was readable before is kept")
	}
	found := false
	for _, m := range top {
		switch m.key {
		case "version":
			var version string
			if json.Unmarshal(m.data, &version) != nil || !strings.HasPrefix(version, "2.1") {
				r.problem("version", "the version is %s; only SARIF 2.1.0 is read for certain", m.data)
			}
		case "runs":
			found = true
			runs, _ := elements(m.data)
			for i, run := range runs {
				s := &sarifReader{reader: r, where: fmt.Sprintf("runs[%d]", i)}
				s.read(run.data)
			}
		}
	}
	if !found {
		r.problem("runs", "there is no array of runs: this is not SARIF")
	}
	return r.finish()
}

// A sarifReader reads one run.
type sarifReader struct {
	*reader
	where string
	run   sarifRun
}

func (s *sarifReader) read(data []byte) {
	parts, _ := members(data)
	if parts == nil && len(data) > 0 && data[0] != '{' {
		s.problem(s.where, "a run must be an object")
		return
	}
	var results []part
	for _, m := range parts { // the results may come before what explains them
		switch m.key {
		case "tool":
			s.readTool(m.data)
		case "artifacts":
			s.readArtifacts(m.data)
		case "originalUriBaseIds":
			s.run.bases = map[string]sarifArtifactLocation{}
			bases, _ := members(m.data)
			for _, b := range bases {
				var loc sarifArtifactLocation
				if s.decode(b.data, &loc, s.where+".originalUriBaseIds."+b.key) {
					s.run.bases[b.key] = loc
				}
			}
		case "columnKind":
			var kind string
			s.decode(m.data, &kind, s.where+".columnKind")
			s.run.points = kind == "unicodeCodePoints"
		case "results":
			if string(m.data) == "null" {
				break // the run failed before it had results
			}
			results, _ = elements(m.data)
			if results == nil && firstByte(m.data) != '[' {
				s.problem(s.where+".results", "the results must be an array")
			}
		}
	}
	for i, p := range results {
		where := fmt.Sprintf("%s.results[%d]", s.where, i)
		var res sarifResult
		if s.decode(p.data, &res, where) {
			s.result(&res, where)
		}
	}
}

// decode decodes one record, or reports why it cannot be.
func (r *reader) decode(data []byte, into any, where string) bool {
	if reason, broken := brokenReason(data); broken {
		r.problem(where, "it is not JSON: %s", reason)
		return false
	}
	if err := json.Unmarshal(data, into); err != nil {
		r.problem(where, "%s", decodeError(err))
		return false
	}
	return true
}

func (s *sarifReader) readTool(data []byte) {
	parts, _ := members(data)
	for _, m := range parts {
		switch m.key {
		case "driver":
			s.readComponent(m.data, &s.run.tool.driver, s.where+".tool.driver")
		case "extensions":
			list, _ := elements(m.data)
			s.run.tool.extensions = make([]sarifComponent, len(list))
			for i, e := range list {
				s.readComponent(e.data, &s.run.tool.extensions[i], fmt.Sprintf("%s.tool.extensions[%d]", s.where, i))
			}
		}
	}
}

func (s *sarifReader) readComponent(data []byte, c *sarifComponent, where string) {
	parts, _ := members(data)
	for _, m := range parts { // member by member: a broken one costs only itself
		switch m.key {
		case "name":
			s.decode(m.data, &c.Name, where+".name")
		case "guid":
			s.decode(m.data, &c.GUID, where+".guid")
		case "globalMessageStrings":
			s.decode(m.data, &c.GlobalMessages, where+".globalMessageStrings")
		case "rules":
			list, _ := elements(m.data)
			c.rules = make([]sarifRule, len(list))
			for i, e := range list {
				if !s.decode(e.data, &c.rules[i], fmt.Sprintf("%s.rules[%d]", where, i)) {
					c.rules[i] = sarifRule{}
				}
				c.rules[i].component = c
			}
		}
	}
}

func (s *sarifReader) readArtifacts(data []byte) {
	list, _ := elements(data)
	s.run.artifacts = make([]sarifArtifactLocation, len(list))
	for i, e := range list {
		var artifact struct {
			Location sarifArtifactLocation `json:"location"`
		}
		if s.decode(e.data, &artifact, fmt.Sprintf("%s.artifacts[%d]", s.where, i)) {
			s.run.artifacts[i] = artifact.Location
		}
	}
}

func (s *sarifReader) result(res *sarifResult, where string) {
	if s.hidden(res) {
		s.rep.Hidden++
		return
	}
	rule := s.rule(res)
	in := Incident{
		RuleID:      res.RuleID,
		Severity:    severityOf(res, rule),
		Message:     s.message(&res.Message, rule),
		Source:      s.run.tool.driver.Name,
		ID:          res.Partial[fingerprint],
		Description: "",
	}
	if in.RuleID == "" && res.Rule != nil {
		in.RuleID = res.Rule.ID
	}
	var bag sarifBag
	if rule != nil {
		if in.RuleID != rule.ID && in.RuleID != "" && rule.ID != "" {
			setMeta(&in, MetaSubRule, in.RuleID)
		}
		if rule.ID != "" {
			in.RuleID = rule.ID
		}
		in.Description = firstOf(rule.Short.Text, rule.Full.Text, rule.Name)
		if rule.HelpURI != "" {
			in.Links = []Link{{URL: rule.HelpURI}}
		}
		_ = json.Unmarshal(rule.Bag, &bag) // a bag is anyone's: what does not fit is not ours
	}
	_ = json.Unmarshal(res.Bag, &bag)
	in.Category, in.Labels, in.Effort = bag.Category, bag.Tags, bag.Effort
	if in.RuleID == "" {
		s.problem(where, "it names no rule")
		return
	}
	if in.Message == "" {
		in.Message = firstOf(in.Description, in.RuleID)
	}
	if in.Description == "" {
		in.Description = in.Message
	}
	if res.Baseline != "" {
		setMeta(&in, MetaBaseline, res.Baseline)
	}
	if !s.locate(&in, res.Locations, where) {
		return
	}
	in.Fixes = s.fixes(res.Fixes, rule, where)
	s.add(in)
}

// hidden reports whether the result is nothing to act on.
func (s *sarifReader) hidden(res *sarifResult) bool {
	switch res.Kind {
	case "pass", "informational", "notApplicable":
		return true
	}
	if res.Baseline == "absent" || res.Baseline == "unchanged" && s.opts.NewOnly {
		return true
	}
	if s.opts.Suppressed || len(res.Suppressions) == 0 {
		return false
	}
	for _, sup := range res.Suppressions {
		if sup.Status == "underReview" || sup.Status == "rejected" {
			return false
		}
	}
	return true
}

// rule finds the descriptor of a result by index, id (also the leading parts
// of a hierarchical one) or GUID. nil: the file does not describe it.
func (s *sarifReader) rule(res *sarifResult) *sarifRule {
	component := &s.run.tool.driver
	index, id, guid := res.RuleIndex, res.RuleID, ""
	if ref := res.Rule; ref != nil {
		component = s.component(ref.Component)
		if ref.Index != nil {
			index = ref.Index
		}
		if id == "" {
			id = ref.ID
		}
		guid = ref.GUID
	}
	if index != nil && *index >= 0 && component != nil && *index < len(component.rules) {
		// Some producers number the rules of all components in one; an id that
		// disagrees with the index wins.
		if r := &component.rules[*index]; id == "" || r.ID == "" || id == r.ID || strings.HasPrefix(id, r.ID+"/") {
			return r
		}
	}
	all := make([]*sarifComponent, 0, 1+len(s.run.tool.extensions))
	if component != nil {
		all = append(all, component)
	}
	all = append(all, &s.run.tool.driver)
	for i := range s.run.tool.extensions {
		all = append(all, &s.run.tool.extensions[i])
	}
	for lead := id; ; {
		for _, c := range all {
			for i := range c.rules {
				if r := &c.rules[i]; lead != "" && r.ID == lead || guid != "" && strings.EqualFold(r.GUID, guid) {
					return r
				}
			}
		}
		cut := strings.LastIndexByte(lead, '/')
		if cut < 0 {
			return nil
		}
		lead = lead[:cut]
	}
}

func (s *sarifReader) component(ref *sarifComponentRef) *sarifComponent {
	if ref == nil {
		return &s.run.tool.driver
	}
	if ref.Index != nil && *ref.Index >= 0 && *ref.Index < len(s.run.tool.extensions) {
		return &s.run.tool.extensions[*ref.Index]
	}
	for i := range s.run.tool.extensions {
		c := &s.run.tool.extensions[i]
		if ref.GUID != "" && strings.EqualFold(c.GUID, ref.GUID) || ref.Name != "" && c.Name == ref.Name {
			return c
		}
	}
	if ref.Index == nil && (ref.Name == s.run.tool.driver.Name || ref.GUID == s.run.tool.driver.GUID) {
		return &s.run.tool.driver
	}
	return nil
}

func severityOf(res *sarifResult, rule *sarifRule) Severity {
	level := res.Level
	if level == "" {
		switch {
		case res.Kind != "" && res.Kind != "fail":
			level = "none" // the standard's default for anything but a failure
		case rule != nil && rule.Config.Level != "":
			level = rule.Config.Level
		}
	}
	switch level {
	case "error":
		return Error
	case "note":
		return Info
	case "none":
		return Hint
	}
	return Warning
}

// message renders a message: its own text, or the rule's or tool's string of that id.
func (s *sarifReader) message(m *sarifMessage, rule *sarifRule) string {
	text := firstOf(m.Text, m.Markdown)
	if text == "" && m.ID != "" {
		if rule != nil {
			found, ok := rule.Messages[m.ID]
			if !ok {
				found = rule.component.GlobalMessages[m.ID]
			}
			text = firstOf(found.Text, found.Markdown)
		}
		if text == "" {
			found := s.run.tool.driver.GlobalMessages[m.ID]
			text = firstOf(found.Text, found.Markdown)
		}
	} else if len(m.Arguments) == 0 {
		return text
	}
	return fillPlaceholders(text, m.Arguments)
}

// fillPlaceholders replaces {0}, {1}, … and turns {{ and }} into single braces.
func fillPlaceholders(text string, args []string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case (c == '{' || c == '}') && i+1 < len(text) && text[i+1] == c:
			b.WriteByte(c)
			i++
		case c == '{':
			end := strings.IndexByte(text[i:], '}')
			n, err := -1, error(nil)
			if end > 0 {
				n, err = strconv.Atoi(text[i+1 : i+end])
			}
			if err != nil || n < 0 || n >= len(args) {
				b.WriteByte(c)
				continue
			}
			b.WriteString(args[n])
			i += end
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
