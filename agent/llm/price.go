package llm

import (
	"encoding/json"
	"strings"
)

// A Price is what a million tokens cost, in US dollars.
type Price struct {
	Input, CacheRead, CacheWrite, Output float64
}

// A PriceTable maps the beginning of a model's name to its price; the longest
// beginning counts.
type PriceTable map[string]Price

// Prices holds list prices of widely used models. They change; settings can
// replace them. A model that is not listed has an unknown price, not a free one.
var Prices = PriceTable{
	"gpt-4o":       {2.50, 1.25, 2.50, 10},
	"gpt-4o-mini":  {0.15, 0.075, 0.15, 0.60},
	"gpt-4.1":      {2, 0.50, 2, 8},
	"gpt-4.1-mini": {0.40, 0.10, 0.40, 1.60},
	"gpt-4.1-nano": {0.10, 0.025, 0.10, 0.40},
	"gpt-5":        {1.25, 0.125, 1.25, 10},
	"gpt-5-mini":   {0.25, 0.025, 0.25, 2},
	"gpt-5-nano":   {0.05, 0.005, 0.05, 0.40},
	"o3":           {2, 0.50, 2, 8},
	"o4-mini":      {1.10, 0.275, 1.10, 4.40},
}

// Cost returns what the usage of a model costs in US dollars, nil when the price
// is not known. A name such as "openai/gpt-4o-2024-08-06" is found by "gpt-4o",
// but "gpt-4o-audio" is another model than "gpt-4o".
func (t PriceTable) Cost(model string, u Usage) *float64 {
	p, ok := t.find(model)
	if !ok {
		return nil
	}
	c := (float64(u.Input)*p.Input + float64(u.CacheRead)*p.CacheRead + float64(u.CacheWrite)*p.CacheWrite +
		float64(u.Output+u.Reasoning)*p.Output) / 1e6
	return &c
}

func (t PriceTable) find(model string) (Price, bool) {
	if p, ok := t[model]; ok {
		return p, true
	}
	model = model[strings.LastIndexByte(model, '/')+1:]
	if p, ok := t[model]; ok {
		return p, true
	}
	// A dated snapshot costs what its model costs.
	if i := strings.IndexFunc(model, func(r rune) bool { return r == '@' || r == ':' }); i > 0 {
		model = model[:i]
	}
	for name, p := range t {
		rest, ok := strings.CutPrefix(model, name+"-")
		if ok && rest != "" && strings.Trim(rest, "0123456789-") == "" {
			return p, true
		}
	}
	return Price{}, false
}

func mustJSON(v any) []byte {
	js, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return js
}
