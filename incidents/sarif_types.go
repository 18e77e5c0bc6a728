package incidents

import "encoding/json"

// The parts of SARIF 2.1.0 that incidents are made of, as small structs of our
// own. Indexes and offsets are pointers: their default is "none", not 0.

type sarifRun struct {
	tool      sarifTool
	artifacts []sarifArtifactLocation
	bases     map[string]sarifArtifactLocation // originalUriBaseIds
	points    bool                             // columnKind is unicodeCodePoints
}

type sarifTool struct {
	driver     sarifComponent
	extensions []sarifComponent
}

type sarifComponent struct {
	Name           string
	GUID           string
	GlobalMessages map[string]sarifMessage
	rules          []sarifRule // a broken one is empty: indexes count it
}

type sarifRule struct {
	ID        string                  `json:"id"`
	GUID      string                  `json:"guid"`
	Name      string                  `json:"name"`
	Short     sarifMessage            `json:"shortDescription"`
	Full      sarifMessage            `json:"fullDescription"`
	HelpURI   string                  `json:"helpUri"`
	Messages  map[string]sarifMessage `json:"messageStrings"`
	Config    sarifRuleConfig         `json:"defaultConfiguration"`
	Bag       json.RawMessage         `json:"properties"`
	component *sarifComponent
}

type sarifRuleConfig struct {
	Level string `json:"level"`
}

// sarifMessage is both SARIF's message and its multiformatMessageString.
type sarifMessage struct {
	Text      string   `json:"text"`
	Markdown  string   `json:"markdown"`
	ID        string   `json:"id"`
	Arguments []string `json:"arguments"`
}

type sarifResult struct {
	RuleID       string             `json:"ruleId"`
	RuleIndex    *int               `json:"ruleIndex"`
	Rule         *sarifRuleRef      `json:"rule"`
	Level        string             `json:"level"`
	Kind         string             `json:"kind"`
	Message      sarifMessage       `json:"message"`
	Locations    []sarifLocation    `json:"locations"`
	Baseline     string             `json:"baselineState"`
	Suppressions []sarifSuppression `json:"suppressions"`
	Fixes        json.RawMessage    `json:"fixes"`
	Partial      map[string]string  `json:"partialFingerprints"`
	Bag          json.RawMessage    `json:"properties"`
}

type sarifRuleRef struct {
	ID        string             `json:"id"`
	Index     *int               `json:"index"`
	GUID      string             `json:"guid"`
	Component *sarifComponentRef `json:"toolComponent"`
}

type sarifComponentRef struct {
	Name  string `json:"name"`
	Index *int   `json:"index"`
	GUID  string `json:"guid"`
}

type sarifSuppression struct {
	Kind   string `json:"kind"`
	Status string `json:"status"`
}

type sarifLocation struct {
	Physical *sarifPhysical `json:"physicalLocation"`
}

type sarifPhysical struct {
	Artifact sarifArtifactLocation `json:"artifactLocation"`
	Region   *sarifRegion          `json:"region"`
}

type sarifArtifactLocation struct {
	URI   string `json:"uri"`
	Base  string `json:"uriBaseId"`
	Index *int   `json:"index"`
}

type sarifRegion struct {
	StartLine   *int          `json:"startLine"`
	StartColumn *int          `json:"startColumn"`
	EndLine     *int          `json:"endLine"`
	EndColumn   *int          `json:"endColumn"`
	CharOffset  *int          `json:"charOffset"`
	CharLength  *int          `json:"charLength"`
	ByteOffset  *int          `json:"byteOffset"`
	ByteLength  *int          `json:"byteLength"`
	Snippet     *sarifContent `json:"snippet"`
}

type sarifContent struct {
	Text   *string `json:"text"`
	Binary *string `json:"binary"` // base64
}

type sarifFix struct {
	Description sarifMessage  `json:"description"`
	Changes     []sarifChange `json:"artifactChanges"`
}

type sarifChange struct {
	Artifact     sarifArtifactLocation `json:"artifactLocation"`
	Replacements []sarifReplacement    `json:"replacements"`
}

type sarifReplacement struct {
	Deleted  *sarifRegion  `json:"deletedRegion"`
	Inserted *sarifContent `json:"insertedContent"`
}

// sarifBag is the property bag as far as incidents know it.
type sarifBag struct {
	Category string   `json:"category"`
	Tags     []string `json:"tags"`
	Effort   int      `json:"effort"`
}

// fingerprint is the member of a result's partialFingerprints that holds our id.
const fingerprint = "kaiakIncidentId/v1"
