import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { serverAuth, TestIdentity } from '../../../../test/support/test-authority.js';
import { type HttpsGetter, httpsGetter } from './https-get.js';

/** Raw responses by path. */
const answers: Readonly<Record<string, string>> = {
  '/fine': 'HTTP/1.1 200 OK\r\ncache-control: public, max-age=60\r\ncontent-length: 2\r\n\r\nok',
  '/upgrade': 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\nother protocol',
  '/moved': 'HTTP/1.1 302 Found\r\nlocation: /fine\r\ncontent-length: 0\r\n\r\n',
  '/early': 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
  '/long': `HTTP/1.1 200 OK\r\ncontent-length: 2000000\r\n\r\n${'x'.repeat(2_000_000)}`,
  '/short': 'HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\nok',
};

describe('reads over https', () => {
  let server: Server;
  let get: HttpsGetter;
  let origin: string;
  const sockets = new Set<TLSSocket>();

  before(async () => {
    const authority = await TestIdentity.root('authority');
    const identity = await authority.issue({
      subject: [{ CN: ['provider'] }],
      usages: [serverAuth],
      names: [{ type: 'ip', value: '127.0.0.1' }],
    });
    server = createServer({ cert: identity.chain, key: identity.key }, (socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      socket.on('error', () => {});
      socket.once('data', (text) => {
        const path = /^GET (\S+)/.exec(text.toString())?.[1] ?? '';
        // A connection that switched protocols stays open until the other side ends it.
        if (path === '/upgrade') socket.write(answers[path] ?? '');
        else socket.end(answers[path] ?? '');
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    get = httpsGetter(authority.cert);
  });

  after(() => {
    get.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  const read = (path: string) => get(`${origin}${path}`, AbortSignal.timeout(20_000));

  it('give the body, and how long it may be kept', async () => {
    assert.deepEqual(await read('/fine'), { body: 'ok', maxAgeSeconds: 60 });
    assert.deepEqual(await read('/early'), { body: 'ok', maxAgeSeconds: undefined });
  });

  const faults: readonly (readonly [string, RegExp])[] = [
    ['/upgrade', /^can't read https:\S+\/upgrade: it answers 101$/],
    ['/moved', /: it answers 302$/],
    ['/long', /: the answer has more than 1048576 bytes$/],
    ['/short', /: aborted$/],
  ];
  for (const [path, message] of faults) {
    it(`fail for ${path}, and leave no connection open`, { timeout: 120_000 }, async () => {
      await assert.rejects(read(path), (error: Error) => message.test(error.message));
      for (const socket of sockets) await new Promise<unknown>((resolve) => socket.once('close', resolve));
    });
  }
});
