// JSON-RPC 2.0 with Content-Length headers over two streams: all that a client
// of Kaiak needs. Node's standard library only.

/** Connects to a server that reads `input` and writes `output` (both Node streams). */
export function connect(input, output) {
  const pending = new Map();
  const heard = []; // every notification, in order
  const waiting = [];
  let nextId = 1;
  let buffer = Buffer.alloc(0);

  const send = (message) => {
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
    input.write(`Content-Length: ${body.length}\r\n\r\n`);
    input.write(body);
  };

  const settle = () => {
    for (const w of [...waiting]) {
      const found = heard.find(w.match);
      if (found) {
        waiting.splice(waiting.indexOf(w), 1);
        w.resolve(found);
      }
    }
  };

  const receive = (message) => {
    if (message.method && 'id' in message) {
      // The server asks something; a client that offers nothing refuses.
      send({ id: message.id, error: { code: -32601, message: `${message.method} is not offered here` } });
    } else if (message.method) {
      heard.push(message);
      settle();
    } else {
      const { resolve, reject } = pending.get(message.id) ?? {};
      pending.delete(message.id);
      if (message.error) reject?.(Object.assign(new Error(message.error.message), message.error));
      else resolve?.(message.result);
    }
  };

  output.on('data', (chunk) => {
    buffer = Buffer.concat([buffer, chunk]);
    for (;;) {
      const end = buffer.indexOf('\r\n\r\n');
      if (end < 0) return;
      const length = Number(/Content-Length: *(\d+)/i.exec(buffer.subarray(0, end).toString('latin1'))[1]);
      if (buffer.length < end + 4 + length) return;
      const body = buffer.subarray(end + 4, end + 4 + length).toString('utf8');
      buffer = buffer.subarray(end + 4 + length);
      receive(JSON.parse(body));
    }
  });

  return {
    heard,
    notify: (method, params) => send({ method, params }),
    call: (method, params) =>
      new Promise((resolve, reject) => {
        const id = nextId++;
        pending.set(id, { resolve, reject });
        send({ id, method, params });
      }),
    /** Resolves with the first notification, past or to come, that matches. */
    until: (match, what, ms = 20000) =>
      new Promise((resolve, reject) => {
        const w = { match, resolve };
        waiting.push(w);
        settle();
        if (waiting.includes(w)) setTimeout(() => reject(new Error(`waited in vain for ${what}`)), ms).unref();
      }),
  };
}
