import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, it } from 'node:test';
import { restrictUpgrades } from './restrict-upgrades.js';

const upgrade = (path: string, more = '') =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${more}\r\n`;

/** Sends the text to a server that answers `/slow` when it has received a request for something else; returns what comes back. */
async function answersTo(text: string): Promise<string> {
  const held: ServerResponse[] = [];
  const server = createServer((request, response) => {
    if (request.url === '/slow') held.push(response);
    else {
      response.setHeader('connection', 'close').end('plain');
      for (const each of held.splice(0)) each.end('slow');
    }
  });
  restrictUpgrades(server, ({ url }) => url !== '/unwanted');
  server.on('upgrade', (_request, socket) => socket.end('upgraded'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let got = '';
  socket.on('data', (chunk: Buffer) => {
    got += chunk.toString();
  });
  socket.write(text);
  await once(socket, 'close');
  server.close();
  return [...got.matchAll(/upgraded|plain|slow/g)].join(' ');
}

describe('restrictUpgrades', () => {
  it('lets an upgrade pass that nothing is in front of', async () => {
    assert.equal(await answersTo(upgrade('/')), 'upgraded');
    assert.equal(await answersTo(upgrade('/', 'Content-Length: 0\r\n')), 'upgraded');
  });

  it('answers one behind a request without a response in order, and as any other', async () => {
    const slow = 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n';
    assert.equal(await answersTo(`${slow}${upgrade('/')}`), 'slow plain');
  });

  it('ignores those with a body, and those that nobody wants', async () => {
    assert.equal(await answersTo(`${upgrade('/', 'Content-Length: 4\r\n')}text`), 'plain');
    assert.equal(await answersTo(`${upgrade('/', 'Transfer-Encoding: chunked\r\n')}0\r\n\r\n`), 'plain');
    assert.equal(await answersTo(upgrade('/unwanted')), 'plain');
  });
});
