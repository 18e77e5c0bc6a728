#!/usr/bin/env node
// Walks the whole kaiak/* contract against a server, as an independent client.
//   walk.mjs SERVER ARGS…          over stdio
//   walk.mjs --socket SERVER       over a unix socket
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { connect } from './wire.mjs';

const socketMode = process.argv[2] === '--socket';
const command = process.argv.slice(socketMode ? 3 : 2);
if (command.length === 0) {
  console.error('usage: walk.mjs [--socket] SERVER [ARGS…]');
  process.exit(2);
}

// A workspace with one call that a built-in rule fixes, and one that none does.
const base = realpathSync(mkdtempSync(join(tmpdir(), 'kaiak-walk-')));
process.on('exit', () => rmSync(base, { recursive: true, force: true }));
const source = `package main

import (
	"fmt"
	"io/ioutil"
	"os"
)

func main() {
	text, err := ioutil.ReadAll(os.Stdin)
	fmt.Println(len(text), err)
}
`;
writeFileSync(join(base, 'go.mod'), 'module walk\n\ngo 1.21\n');
writeFileSync(join(base, 'main.go'), source);
const disk = () => readFileSync(join(base, 'main.go'), 'utf8');
const sha256 = (text) => createHash('sha256').update(text).digest('hex');
const incident = {
  id: 'incident-1',
  rule_id: 'SA1019',
  file_path: 'main.go',
  line_number: 10,
  severity: 'warning',
  description: 'Use of deprecated API',
  message: 'ioutil.ReadAll has been deprecated since Go 1.16',
  category: 'deprecated-api',
  metadata: { deprecated_since: '1.16' },
};

let passed = 0;
let failed = 0;
async function step(name, body) {
  try {
    await body();
    passed++;
    console.log(`ok    ${name}`);
  } catch (err) {
    failed++;
    console.log(`FAIL  ${name}: ${err.message}`);
  }
}
async function refused(promise, code, kind) {
  const err = await promise.then(
    (result) => assert.fail(`answered ${JSON.stringify(result)} instead of ${code}`),
    (e) => e,
  );
  assert.equal(err.code, code, `${err.code} ${err.message}`);
  assert.equal(err.data?.kind, kind);
  assert.ok(err.message.length > 10, 'the message does not say what happened');
}

// Connect.
const env = { ...process.env, KAIAK_STATE_DIR: join(base, '.state') };
let server, wire;
if (socketMode) {
  const socket = join(base, 'kaiak.sock');
  server = spawn(command[0], [...command.slice(1), 'serve', '--socket', socket], { stdio: 'inherit', env });
  while (!existsSync(socket)) await new Promise((next) => setImmediate(next));
  assert.equal(statSync(socket).mode & 0o777, 0o600, 'the socket is open to others');
  const stream = createConnection(socket);
  await new Promise((next) => stream.once('connect', next));
  wire = connect(stream, stream);
} else {
  server = spawn(command[0], command.slice(1), { stdio: ['pipe', 'pipe', 'inherit'], env });
  wire = connect(server.stdin, server.stdout);
}
const exited = new Promise((next) => server.once('exit', next));
const { call, notify, until, heard } = wire;
const stream = (kind) => (m) => m.method === `kaiak/stream/${kind}`;

let session, request, proposal, interaction;

await step('a request before initialize is refused', () =>
  refused(call('kaiak/session/create', { workspace_path: base, session_name: 'early' }), -32002, 'SERVER_NOT_INITIALIZED'));

await step('initialize lists methods, notifications and limits', async () => {
  const root = pathToFileURL(base).href;
  const result = await call('initialize', {
    processId: process.pid,
    rootUri: root,
    workspaceFolders: [{ uri: root, name: 'walk' }],
    capabilities: { experimental: { kaiak: { interactive: true } } },
  });
  const ours = result.capabilities.experimental.kaiak;
  for (const m of ['session/create', 'session/terminate', 'fix/generate', 'fix/cancel', 'interaction/respond', 'session/status']) {
    assert.ok(ours.methods.includes(`kaiak/${m}`), m);
  }
  for (const n of ['progress', 'ai_response', 'tool_call', 'thinking', 'user_interaction', 'file_modification', 'error', 'system']) {
    assert.ok(ours.notifications.includes(`kaiak/stream/${n}`), n);
  }
  assert.equal(ours.protocol_version, 1);
  assert.ok(Object.keys(ours.limits).length > 4);
  notify('initialized', {});
});

await step('session/create', async () => {
  const r = await call('kaiak/session/create', {
    workspace_path: base,
    session_name: 'walk',
    configuration: { provider: 'openai', model: 'gpt-4', timeout: 300, max_turns: 50 },
  });
  assert.equal(r.status, 'created');
  assert.match(r.created_at, /^\d{4}-\d\d-\d\dT.*Z$/);
  session = r.session_id;
});
await step('session/create refuses a workspace that is not there', () =>
  refused(call('kaiak/session/create', { workspace_path: join(base, 'nowhere'), session_name: 'x' }), -32602, 'INVALID_PARAMS'));
await step('session/create refuses parameters of the wrong type', () =>
  refused(call('kaiak/session/create', { workspace_path: 7 }), -32602, 'INVALID_PARAMS'));

await step('fix/generate answers at once', async () => {
  const r = await call('kaiak/fix/generate', { session_id: session, incidents: [incident], migration_context: { target_version: '1.21' } });
  assert.equal(r.status, 'processing');
  assert.equal(r.session_id, session);
  assert.equal(r.incident_count, 1);
  request = r.request_id;
});
await step('stream/progress tells the phase', async () => {
  const m = await until(stream('progress'), 'progress');
  assert.equal(m.params.session_id, session);
  assert.equal(typeof m.params.content.percentage, 'number');
  assert.equal(typeof m.params.content.phase, 'string');
});
await step('stream/file_modification shows the change and writes nothing', async () => {
  const m = await until(stream('file_modification'), 'file_modification');
  const c = m.params.content;
  proposal = { id: m.params.proposal_id, ...c };
  assert.equal(c.file_path, 'main.go');
  assert.equal(c.change_type, 'edit');
  assert.equal(c.original_content, source);
  assert.match(c.proposed_content, /io\.ReadAll\(os\.Stdin\)/);
  assert.ok(c.confidence > 0 && c.confidence < 1);
  assert.equal(disk(), source);
});
await step('stream/user_interaction asks', async () => {
  const m = await until(stream('user_interaction'), 'user_interaction');
  interaction = m.params.interaction_id;
  assert.equal(m.params.content.interaction_type, 'approval');
  assert.equal(m.params.content.proposal_id, proposal.id);
  assert.ok(m.params.content.timeout > 0);
});
await step('session/status waits for the user', async () => {
  const r = await call('kaiak/session/status', { session_id: session });
  assert.equal(r.status, 'waiting_for_user');
  assert.equal(r.active_request_id, request);
  assert.equal(r.error_count, 0);
});
await step('a response of the wrong form is refused and changes nothing', async () => {
  await refused(call('kaiak/interaction/respond', { interaction_id: interaction, response_type: 'approval', response_data: { approved: 'yes' } }), -32011, 'RESPONSE_VALIDATION_FAILED');
  assert.equal(disk(), source);
});
await step('an unknown interaction is refused', () =>
  refused(call('kaiak/interaction/respond', { interaction_id: 'int-none', response_type: 'approval', response_data: { approved: true } }), -32009, 'INTERACTION_NOT_FOUND'));
await step('an approval writes exactly the bytes that were shown', async () => {
  const r = await call('kaiak/interaction/respond', {
    interaction_id: interaction,
    response_type: 'approval',
    response_data: { approved: true, proposal_id: proposal.id, base_sha256: sha256(source), proposed_sha256: sha256(proposal.proposed_content) },
  });
  assert.equal(r.status, 'processed');
  assert.equal(disk(), proposal.proposed_content);
});
await step('a second answer is refused', () =>
  refused(call('kaiak/interaction/respond', { interaction_id: interaction, response_type: 'approval', response_data: { approved: false } }), -32010, 'INTERACTION_ALREADY_RESPONDED'));
await step('stream/system ends the request, once', async () => {
  const m = await until((n) => stream('system')(n) && n.params.content.event === 'request_completed', 'request_completed');
  assert.equal(m.params.content.request_id, request);
  assert.equal(m.params.content.status, 'success');
  assert.equal(m.params.content.summary.incidents_processed, 1);
  assert.equal(m.params.content.summary.proposals_generated, 1);
});
await step('fix/cancel of a completed request is refused', () =>
  refused(call('kaiak/fix/cancel', { request_id: request }), -32008, 'REQUEST_ALREADY_COMPLETED'));
await step('fix/cancel of an unknown request is refused', () =>
  refused(call('kaiak/fix/cancel', { request_id: 'req-none' }), -32007, 'REQUEST_NOT_FOUND'));
await step('fix/generate refuses incidents without a file', () =>
  refused(call('kaiak/fix/generate', { session_id: session, incidents: [{ id: 'x' }] }), -32602, 'INVALID_PARAMS'));
await step('sequences have no gap', () => {
  const seen = heard.filter((m) => m.method.startsWith('kaiak/stream/') && m.params.session_id === session).map((m) => m.params.sequence);
  assert.deepEqual(seen, seen.map((_, i) => i + 1));
});
await step('session/events replays what was sent', async () => {
  const sent = heard.filter((m) => m.method.startsWith('kaiak/stream/')).map((m) => m.params);
  const r = await call('kaiak/session/events', { session_id: session, after_sequence: 0, limit: 1000 });
  assert.deepEqual(r.events.map((e) => e.params), sent);
});
await step('proposal/revert restores the bytes', async () => {
  await call('kaiak/proposal/revert', { proposal_id: proposal.id });
  assert.equal(disk(), source);
});
await step('an unknown method and an unknown version are told apart', async () => {
  await refused(call('kaiak/session/nonsense', {}), -32601, 'METHOD_NOT_FOUND');
  const err = await call('kaiak/v9/session/create', {}).catch((e) => e);
  assert.equal(err.code, -32601);
  assert.deepEqual(err.data.supported_versions, [1]);
});
await step('session/terminate, and again', async () => {
  const r = await call('kaiak/session/terminate', { session_id: session });
  assert.equal(r.status, 'terminated');
  assert.ok(r.message_count > 0);
  await refused(call('kaiak/session/terminate', { session_id: session }), -32004, 'SESSION_ALREADY_TERMINATED');
});
await step('an unknown session is refused', () => refused(call('kaiak/session/status', { session_id: 'none' }), -32003, 'SESSION_NOT_FOUND'));
await step('shutdown and exit', async () => {
  await call('shutdown');
  notify('exit');
  if (socketMode) server.kill('SIGTERM');
  const code = await exited;
  if (!socketMode) assert.equal(code, 0);
});

console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
