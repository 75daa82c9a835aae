import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import type { FastifyReply } from 'fastify';
import { readUnwanted } from './unwanted-body.js';

it('a request takes until its answer is sent, however long its client goes on', async () => {
  const context: { answeredAt: number | undefined } = { answeredAt: undefined };
  const server = createServer();
  const asked = once(server, 'request') as Promise<[Http2ServerRequest, Http2ServerResponse]>;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  try {
    const sent = client.request({ ':method': 'POST' });
    sent.write('the beginning');
    const [, response] = await asked;
    readUnwanted(response as unknown as FastifyReply['raw'], context);
    response.end('no');
    const ended = once(sent, 'end');
    sent.resume();
    await ended;
    assert.ok(context.answeredAt !== undefined);
    assert.equal(response.stream.closed, false);
    sent.end('the end');
    await once(response.stream, 'close');
    assert.equal(response.stream.rstCode, 0);
  } finally {
    client.destroy();
    server.close();
  }
});
