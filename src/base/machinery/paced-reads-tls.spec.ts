import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { serverAuth, TestIdentity } from '../../../test/support/test-authority.js';
import { PacedReads } from './paced-reads.js';

/** Sends one request with a long body after the other, and notes when the second one is on its way. */
const client = `
  const { Agent, request } = require('node:https');
  const { parentPort, workerData: { port, ca, sent } } = require('node:worker_threads');
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca });
  const post = () => new Promise((resolve) => {
    const asked = request({ host: 'localhost', port, method: 'POST', agent }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    });
    asked.once('error', (error) => resolve(error.message));
    asked.end(Buffer.alloc(60000));
    return asked.once('finish', () => {
      Atomics.add(sent, 0, 1);
      Atomics.notify(sent, 0);
    });
  });
  post().then(async (first) => {
    // The agent has its connection back.
    await new Promise(setImmediate);
    parentPort.postMessage([first, await post()]);
    agent.destroy();
  });
`;

it('PacedReads has a request answered that comes before the server knows that its last answer was sent', async (context) => {
  const root = await TestIdentity.root('root');
  const names = [{ type: 'dns', value: 'localhost' }] as const;
  const { chain, key } = await root.issue({ subject: [{ CN: ['localhost'] }], usages: [serverAuth], names });
  const sent = new Int32Array(new SharedArrayBuffer(4));
  let requests = 0;
  const server = createServer({ cert: chain, key }, (request, response) => {
    requests++;
    request.resume().once('end', () =>
      // Node learns at the end of the next turn that what is written here was sent.
      setImmediate(() => {
        response.end(Buffer.alloc(150_000));
        for (let count = 0; requests === 1 && count < 2; count = Atomics.load(sent, 0)) {
          assert.notEqual(Atomics.wait(sent, 0, count, 30_000), 'timed-out');
        }
      }),
    );
  });
  new PacedReads().watch(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const worker = new Worker(client, { eval: true, workerData: { port, ca: root.cert, sent } });
  assert.deepEqual(await once(worker, 'message'), [[200, 200]]);
  await worker.terminate();
});
