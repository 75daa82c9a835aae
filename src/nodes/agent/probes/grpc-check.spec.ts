import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { freePort } from '../../../../test/support/ports.js';
import { message, scalar } from '../grpc/wire.js';
import { checkGrpc } from './probe-action.js';

const healthRequest = message({ service: scalar(1, 'string') });
const healthResponse = message({ status: scalar(1, 'integer') });
const serving = 1;
const notServing = 2;

/** The process gets no time, as on a busy machine. */
function pauseProcess(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

describe('a check by gRPC', () => {
  const server = new Server();
  let port: number;
  before(async () => {
    const check = {
      path: '/grpc.health.v1.Health/Check',
      requestStream: false,
      responseStream: false,
      requestSerialize: (value: { service: string }) => healthRequest.encode(value),
      requestDeserialize: (bytes: Buffer) => healthRequest.decode(bytes),
      responseSerialize: (value: { status: number }) => healthResponse.encode(value),
      responseDeserialize: (bytes: Buffer) => healthResponse.decode(bytes),
    } as const;
    server.addService(
      { check },
      {
        check: (
          { request }: { request: { service?: string } },
          answer: (error: null, value: { status: number }) => void,
        ) => {
          if (request.service !== 'silent') answer(null, { status: request.service === 'bad' ? notServing : serving });
        },
      },
    );
    port = await new Promise((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error ? reject(error) : resolve(bound),
      );
    });
  });
  after(() => server.forceShutdown());

  const check = (service: string, timeoutMs = 10_000) => checkGrpc({ service }, '127.0.0.1', port, timeoutMs);

  it('goes by the state of the service', async () => {
    assert.deepEqual(await check(''), { outcome: 'success', output: 'service healthy' });
    const output = 'service unhealthy (responded with "NOT_SERVING")';
    assert.deepEqual(await check('bad'), { outcome: 'failure', output });
  });

  it('fails when no answer comes in time, or nobody listens', async () => {
    const output = 'timeout: health rpc did not complete within 0.3s';
    assert.deepEqual(await check('silent', 300), { outcome: 'failure', output });
    const closed = await freePort();
    assert.deepEqual(await checkGrpc({ service: '' }, '127.0.0.1', closed, 300), {
      outcome: 'failure',
      output: `timeout: failed to connect service "127.0.0.1:${closed}" within 0.3s: context deadline exceeded`,
    });
  });

  it('does not fail because the agent had no time to see the answer', async () => {
    await check('');
    const result = check('', 1_000);
    setTimeout(() => pauseProcess(1_500), 1);
    assert.deepEqual(await result, { outcome: 'success', output: 'service healthy' });
  });
});
