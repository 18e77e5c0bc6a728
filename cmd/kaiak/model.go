package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/kaiak/kaiak/agent"
	"github.com/kaiak/kaiak/agent/llm"
	"github.com/kaiak/kaiak/agent/llm/cassette"
	"github.com/kaiak/kaiak/agent/loop"
	"github.com/kaiak/kaiak/agent/tool"
	"github.com/kaiak/kaiak/kaiak"
)

// The environment variables that make a model's run repeatable: a folder to
// record every exchange into, or one to replay instead of asking.
const (
	envRecord = "KAIAK_MODEL_RECORD"
	envReplay = "KAIAK_MODEL_REPLAY"
)

// modelProfiles returns the endpoints that the user has named: the environment's
// first, then those of models.yaml in the user's configuration folder.
func modelProfiles() (llm.Profiles, error) {
	var profiles llm.Profiles
	p, err := llm.FromEnv(os.Getenv)
	switch {
	case err == nil:
		profiles = append(profiles, p)
	case os.Getenv(llm.EnvBaseURL) != "":
		return nil, err
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return profiles, nil // no home, no file
	}
	named, err := llm.ReadProfiles(filepath.Join(dir, "kaiak", "models.yaml"), os.Getenv)
	return append(profiles, named...), err
}

// modelPool opens the endpoints. Nothing is sent by it.
func modelPool(log *slog.Logger) (*loop.Pool, error) {
	profiles, err := modelProfiles()
	if err != nil {
		return nil, err
	}
	opts := loop.PoolOptions{Profiles: profiles, Environ: os.Environ(), Log: log}
	mode, dir := cassette.Off, ""
	if d := os.Getenv(envRecord); d != "" {
		mode, dir = cassette.Record, d
	}
	if d := os.Getenv(envReplay); d != "" {
		mode, dir = cassette.Replay, d
	}
	if mode != cassette.Off {
		tape, err := cassette.Open(mode, dir, loop.NewPool(opts).Secrets().Text)
		if err != nil {
			return nil, err
		}
		opts.Transport = tape.Wrap
	}
	return loop.NewPool(opts), nil
}

// modelFactory gives the service its model engine. What is wrong with the
// configuration is said when somebody asks for the model, and nothing is sent
// before.
func modelFactory(log *slog.Logger) (factory kaiak.ModelFactory, closePool func()) {
	pool, err := modelPool(log)
	if err != nil {
		return func(context.Context, kaiak.ModelSettings) (agent.ModelEngine, error) { return nil, err }, func() {}
	}
	return func(ctx context.Context, s kaiak.ModelSettings) (agent.ModelEngine, error) {
		engine, err := pool.Engine(ctx, s.Profile, s.Model, loop.Options{
			Limits: loop.Limits{Turns: s.MaxTurns}, Ledger: loop.NewLedger(s.MaxTokens, s.MaxCost), Hints: s.Hints,
		})
		if err != nil {
			return nil, err
		}
		return engine, nil
	}, pool.Close
}

// modelTools lists the tools that the engine offers to a model.
func modelTools() []kaiak.ToolInfo {
	var out []kaiak.ToolInfo
	for _, d := range tool.Definitions() {
		out = append(out, kaiak.ToolInfo{Name: d.Function.Name, Description: d.Function.Description, Schema: d.Function.Parameters})
	}
	return out
}
