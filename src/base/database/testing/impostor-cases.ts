import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { it } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import type { ConnectionScene } from './connection-scene.js';

/** Cases about servers that answer otherwise than PostgreSQL does. */
export function impostorCases(scene: () => ConnectionScene): void {
  const connect: ConnectionScene['connect'] = (...parameters) => scene().connect(...parameters);
  const url: ConnectionScene['url'] = (...parameters) => scene().url(...parameters);

  /** An attacker who poses as the server. */
  async function pretender(
    talk: (socket: Socket) => void,
  ): Promise<{ readonly at: string; readonly arrived: Buffer[] }> {
    const arrived: Buffer[] = [];
    const fake = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (chunk: Buffer) => arrived.push(chunk));
      talk(socket);
    });
    return { at: `postgres://u:secret@127.0.0.1:${await scene().listen(fake)}/d`, arrived };
  }
  const says = (text: string) => (socket: Socket) => socket.once('data', () => socket.write(text));

  it('takes no answer but one byte before TLS, and never goes on in the clear after it', async () => {
    // Bytes that arrive together with the response would be read as if they had come over TLS.
    for (const answer of ['SR\0\0\0\x08\0\0\0\0', 'NR\0\0\0\x08\0\0\0\0']) {
      for (const parameters of ['', '?sslmode=require']) {
        const { at, arrived } = await pretender(says(answer));
        await assert.rejects(connect(at + parameters), /before TLS began/, answer);
        assert.equal(Buffer.concat(arrived).length, 8, 'nothing but the question was sent');
      }
    }
    for (const answer of ['E\0\0\0\x0bSFATAL\0', 'R\0\0\0\x08\0\0\0\0']) {
      const { at, arrived } = await pretender(says(answer));
      await assert.rejects(connect(at), /establishing an SSL connection/, answer);
      assert.equal(Buffer.concat(arrived).length, 8);
    }
    const { at, arrived } = await pretender((socket) =>
      socket.once('data', () => {
        socket.write('S');
        socket.once('data', () => socket.write('this is no handshake'));
      }),
    );
    await assert.rejects(connect(at), /SSL|TLS|EPROTO|wrong version/i);
    assert.equal(Buffer.concat(arrived).includes('user'), false, 'no user is named in the clear');
    const gone = await pretender((socket) => socket.once('data', () => socket.end()));
    await assert.rejects(connect(gone.at), /terminated|ended|hang up/);
    const silent = await pretender(() => undefined);
    await assert.rejects(connect(silent.at, {}, 300), /timeout expired/);
    const slow = await pretender(says('S'));
    await assert.rejects(connect(slow.at, {}, 300), /timeout expired/);
  });

  it('begins with TLS at once for sslnegotiation=direct, with a server that agrees', async () => {
    const direct = async (ALPNProtocols?: string[]): Promise<{ at: string; first: Promise<Buffer> }> => {
      let seen: (bytes: Buffer) => void;
      const first = new Promise<Buffer>((resolve) => {
        seen = resolve;
      });
      const fake = createTlsServer(
        { cert: scene().leaf.chain, key: scene().leaf.key, ...(ALPNProtocols && { ALPNProtocols }) },
        (socket) => {
          socket.on('error', () => undefined);
          socket.once('data', (bytes: Buffer) => {
            seen(bytes);
            socket.destroy();
          });
        },
      );
      fake.on('tlsClientError', () => undefined);
      const port = await scene().listen(fake);
      return { at: url('?sslmode=require&sslnegotiation=direct', 'u', '127.0.0.1', port), first };
    };
    const right = await direct(['postgresql']);
    await assert.rejects(connect(right.at), /terminated|ECONNRESET/);
    assert.equal((await right.first).readInt32BE(4), 196_608, 'the first message of the protocol');
    await assert.rejects(connect((await direct()).at), /did not agree to speak/);
    await assert.rejects(connect((await direct(['http/1.1'])).at), /ALPN|application protocol|did not agree|alert/i);
    // The release of the server may or may not know direct negotiation.
    const { client } = await connect(scene().server.adminUrl);
    const { rows } = await client.query(`select current_setting('server_version_num')::int >= 170000 as knows`);
    const attempt = connect(url('?sslmode=require&sslnegotiation=direct')).then(
      ({ protection }) => protection.protocol !== undefined,
      () => false,
    );
    assert.equal(await attempt, rows[0].knows);
  });
}
