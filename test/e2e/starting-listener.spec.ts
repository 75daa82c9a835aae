import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { systemClock } from '../../src/base/machinery/clock.js';
import { StartingListener } from '../../src/server/endpoints/starting-listener.js';
import { ensurePki, type Pki } from '../../src/tools/cli/pki/pki.js';
import { freePort } from '../support/ports.js';
import { Http2Client } from './support/http2-client.js';

const path = '/api/v1/namespaces';

describe('the port of a server that starts', () => {
  let folder: string;
  let pki: Pki;
  let port: number;
  let listener: StartingListener;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'plinth-starting-'));
    pki = await ensurePki({
      directory: join(folder, 'pki'),
      bindAddress: '127.0.0.1',
      serviceClusterIpRange: '10.0.0.0/16',
      clock: systemClock,
    });
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const open = async (): Promise<void> => {
    port = await freePort();
    const tls = {
      cert: readFileSync(pki.serving.certificateFile),
      key: readFileSync(pki.serving.privateKeyFile),
    };
    listener = await StartingListener.open({ address: '127.0.0.1', port, tls, checks: [] });
  };
  const connected = async (): Promise<TLSSocket> => {
    const socket = connect({ host: '127.0.0.1', port, ca: pki.authority });
    await once(socket, 'secureConnect');
    return socket;
  };
  /** Everything that comes until the other end closes the connection. */
  const answer = async (socket: TLSSocket): Promise<string> => {
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    return text;
  };

  it('ends connections with their answer, so that none is cut with a request on its way', async () => {
    await open();
    const socket = await connected();
    socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`);
    assert.match(await answer(socket), /^HTTP\/1.1 503 [\s\S]*connection: close/i);
    const client = await Http2Client.connect(`https://127.0.0.1:${port}`, pki.authority, 'token');
    const closed = once(client.session, 'close');
    assert.equal((await client.send('GET', path)).status, 503);
    await closed;
    await listener.close();
  });

  it('lets a client read the answer that has not sent all of its body yet', async () => {
    await open();
    const socket = await connected();
    socket.write(`POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-length: 500000\r\n\r\n${'x'.repeat(1000)}`);
    await once(socket, 'readable');
    socket.write('x'.repeat(200_000));
    await new Promise((resolve) => socket.write('x'.repeat(299_000), resolve));
    assert.match(await answer(socket), /^HTTP\/1.1 503 /);
    await listener.close();
  });

  it('answers a request that comes just when the server itself takes over', async () => {
    await open();
    const socket = await connected();
    const closed = listener.close();
    socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`);
    assert.match(await answer(socket), /^HTTP\/1.1 503 /);
    await closed;
  });
});
