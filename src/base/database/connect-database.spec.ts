import assert from 'node:assert/strict';
import { chmod, writeFile } from 'node:fs/promises';
import { createServer, connect as dial } from 'node:net';
import { networkInterfaces } from 'node:os';
import { after, afterEach, before, describe, it } from 'node:test';
import { eventually } from '../../../test/e2e/support/test-cluster.js';
import { PgBouncer } from '../../../test/support/pgbouncer.js';
import { silentObserver } from '../../storage/postgres/postgres-storage-options.js';
import { Session } from '../../storage/postgres/session.js';
import { cancelStatement } from './cancel-statement.js';
import { databaseTargets } from './database-targets.js';
import { noTls } from './open-stream.js';
import { protectionProblem } from './protection.js';
import { ConnectionScene, type Variables } from './testing/connection-scene.js';
import { impostorCases } from './testing/impostor-cases.js';
import { passwordCases } from './testing/password-cases.js';

describe('the connection to the database', () => {
  let scene: ConnectionScene;
  before(async () => {
    scene = await ConnectionScene.start();
  });
  after(() => scene?.stop());
  afterEach(() => scene.endCase());

  const file = (name: string): string => scene.file(name);
  const connect: ConnectionScene['connect'] = (...parameters) => scene.connect(...parameters);
  const url: ConnectionScene['url'] = (...parameters) => scene.url(...parameters);
  /** Whether the server sees the connection as encrypted. */
  const isEncrypted = async (from: string, variables: Variables = {}): Promise<boolean> => {
    const { client, protection } = await connect(from, variables);
    const { rows } = await client.query('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
    assert.equal(protection.protocol !== undefined, rows[0].ssl, 'what it says of itself');
    return rows[0].ssl;
  };

  it('is encrypted whenever the server offers it', async () => {
    for (const parameters of ['', '?sslmode=prefer', '?sslmode=allow', '?sslmode=require', '?connect_timeout=3']) {
      assert.equal(await isEncrypted(url(parameters)), true, parameters);
    }
    assert.equal(await isEncrypted(url('', 'strict')), true, 'for a server that takes nothing else');
    assert.equal(await isEncrypted(url('?sslmode=disable')), false);
    for (const parameters of ['', '?sslmode=prefer', '?sslmode=allow']) {
      assert.equal(await isEncrypted(url(parameters, 'postgres', '127.0.0.1', scene.plain.port)), false, parameters);
    }
    for (const mode of ['require', 'verify-full', 'no-verify']) {
      await assert.rejects(connect(url(`?sslmode=${mode}`, 'postgres', '127.0.0.1', scene.plain.port)), {
        message: noTls,
      });
    }
  });

  it('is in the clear for a user whom the server takes only so, except when more is asked for', async () => {
    assert.equal(await isEncrypted(url('', 'clear')), false);
    await assert.rejects(connect(url('?sslmode=require', 'clear')), /pg_hba.conf/);
    await assert.rejects(connect(url(`?sslrootcert=${file('ca.pem')}`, 'clear', 'localhost')), /pg_hba.conf/);
  });

  it('follows the variables of libpq where the URL has no parameter', async () => {
    assert.equal(await isEncrypted(url(), { PGSSLMODE: 'disable' }), false);
    assert.equal(await isEncrypted(url('?sslmode=require'), { PGSSLMODE: 'disable' }), true);
    await assert.rejects(connect(url('', 'postgres', '127.0.0.1', scene.plain.port), { PGSSLMODE: 'require' }), {
      message: noTls,
    });
    const roots = { PGSSLMODE: 'verify-full', PGSSLROOTCERT: file('ca.pem') };
    assert.equal((await connect(url('', 'postgres', 'localhost'), roots)).protection.verified, 'name');
    await assert.rejects(connect(url(), roots), /altnames|IP/);
    await assert.rejects(connect(url('', 'postgres', 'localhost'), { ...roots, PGSSLROOTCERT: file('other.pem') }));
    const keys = { PGSSLCERT: file('user.pem'), PGSSLKEY: file('user.key') };
    assert.equal(await isEncrypted(url('', 'certain'), keys), true);
    await assert.rejects(connect(url('', 'certain'), { ...keys, PGSSLCERTMODE: 'disable' }), /certificate/);
    await assert.rejects(connect(url(), { PGSSLMINPROTOCOLVERSION: 'TLSv9' }), /ssl_min_protocol_version must be/);
    const old = await connect(url(), { PGSSLMAXPROTOCOLVERSION: 'TLSv1.2' });
    assert.equal(old.protection.protocol, 'TLSv1.2');
    await assert.rejects(connect(url(), { PGTARGETSESSIONATTRS: 'standby' }), /target_session_attrs/);
    await assert.rejects(connect(url(), { PGSSLMODE: 'sometimes' }), /sslmode must be one of/);
  });

  it('refuses by name what it can not follow, and never repeats a password', async () => {
    for (const [parameter, value] of [
      ['sslcrldir', '/x'],
      ['require_auth', 'scram-sha-256'],
      ['requirepeer', 'postgres'],
      ['gssencmode', 'require'],
      ['hostaddr', '10.0.0.1'],
      ['service', 'x'],
      ['requiressl', '1'],
    ] as const) {
      await assert.rejects(
        connect(`postgres://u:secret-word@127.0.0.1/d?${parameter}=${value}`),
        (error: Error) => error.message.includes(parameter) && !error.message.includes('secret-word'),
        parameter,
      );
    }
    for (const variable of ['PGSSLCRLDIR', 'PGREQUIREAUTH', 'PGREQUIREPEER', 'PGHOSTADDR', 'PGSERVICE']) {
      await assert.rejects(connect(url(), { [variable]: 'x' }), new RegExp(variable));
      const socket = databaseTargets('postgres://u@/d?host=/run/x', { [variable]: 'x', PGSSLMODE: 'verify-ca' });
      assert.equal(socket.length, 1, 'a unix socket needs none of it');
    }
    for (const parameters of [
      '?sslmode=verify-ca',
      '?sslmode=disable&sslrootcert=system',
      '?sslnegotiation=direct&sslmode=prefer',
    ]) {
      await assert.rejects(connect(url(parameters)), /^DatabaseUrlError/, parameters);
    }
  });

  it('checks what is asked for: authority, name and revocation', async () => {
    const roots = `sslrootcert=${file('ca.pem')}`;
    const named = (parameters: string) => connect(url(parameters, 'postgres', 'localhost'));
    assert.equal((await named(`?sslmode=verify-full&${roots}`)).protection.verified, 'name');
    assert.equal((await connect(url(`?sslmode=verify-ca&${roots}`))).protection.verified, 'chain');
    assert.equal((await connect(url(`?sslmode=require&${roots}`))).protection.verified, 'chain');
    assert.equal((await connect(url('?sslmode=require'))).protection.verified, 'nothing');
    await assert.rejects(named('?sslmode=verify-full'), /certificate/);
    await assert.rejects(named('?sslrootcert=system'), /certificate/);
    // An explicitly named authority is not ignored, in any mode.
    for (const mode of ['', 'sslmode=prefer&', 'sslmode=require&', 'sslmode=verify-ca&', 'sslmode=verify-full&']) {
      await assert.rejects(named(`?${mode}sslrootcert=${file('other.pem')}`), /certificate/, mode);
    }
    await assert.rejects(
      named(`?sslmode=verify-full&${roots}&sslcrl=${file('crl.pem')}`),
      /revoked|CRL/,
      'the list counts',
    );
  });

  passwordCases(() => scene);

  impostorCases(() => scene);

  it('is cancelled over TLS too', async () => {
    const firsts: Buffer[] = [];
    const between = createServer((socket) => {
      const onward = dial(scene.server.port, '127.0.0.1');
      let sent = Buffer.alloc(0);
      socket
        .on('error', () => onward.destroy())
        .on('data', (chunk: Buffer) => {
          sent = Buffer.concat([sent, chunk]);
        });
      socket.on('close', () => {
        firsts.push(sent);
        onward.destroy();
      });
      onward.on('error', () => socket.destroy());
      socket.pipe(onward).pipe(socket);
    });
    const connection = await connect(url('', 'postgres', '127.0.0.1', await scene.listen(between)));
    const { client } = connection;
    const asked = assert.rejects(client.query('select pg_sleep(600)'), { code: '57014' });
    const watcher = await connect(scene.server.adminUrl);
    await eventually(async () => {
      const { rowCount } = await watcher.client.query(
        `select from pg_stat_activity where query like '%pg_sleep(600)' and pid <> pg_backend_pid()`,
      );
      return rowCount === 1;
    }, 'the statement');
    const secret = Buffer.alloc(4);
    secret.writeInt32BE((client as unknown as { secretKey: number }).secretKey);
    await cancelStatement(connection);
    await asked;
    await eventually(() => firsts.length > 0, 'the end of the connection that cancels');
    assert.equal(firsts[0]?.readInt32BE(4), 80_877_103, 'it asks for TLS first');
    assert.equal(firsts[0]?.includes(secret), false);
  });

  it('is encrypted through a pooler', async (t) => {
    let pooler: PgBouncer;
    try {
      await writeFile(file('scene.leaf.pem'), scene.leaf.cert);
      await writeFile(file('scene.leaf.key'), scene.leaf.key);
      await chmod(file('scene.leaf.key'), 0o644);
      pooler = await PgBouncer.start(scene.server.adminUrl, {
        settings: {
          client_tls_sslmode: 'require',
          client_tls_cert_file: file('scene.leaf.pem'),
          client_tls_key_file: file('scene.leaf.key'),
          server_tls_sslmode: 'require',
        },
      });
    } catch (error) {
      if (!/needs PgBouncer/.test(String(error))) throw error;
      t.skip('needs pgbouncer');
      return;
    }
    try {
      const { client, protection } = await connect(url('', 'postgres', '127.0.0.1', pooler.port));
      assert.match(protection.protocol ?? '', /^TLS/);
      const { rows } = await client.query('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
      assert.equal(rows[0].ssl, true);
      await client.end();
      await assert.rejects(connect(url('?sslmode=disable', 'postgres', '127.0.0.1', pooler.port)), /SSL|TLS/);
    } finally {
      await pooler.stop();
    }
  });

  it('is warned of when it leaves the machine unprotected', async () => {
    const address = Object.values(networkInterfaces())
      .flat()
      .find((found) => found?.family === 'IPv4' && !found.internal)?.address;
    if (address !== undefined) {
      // Others can reach this address, though this connection stays on the machine.
      const relay = createServer((socket) => {
        const onward = dial(scene.plain.port, '127.0.0.1');
        socket.on('error', () => undefined).on('close', () => onward.destroy());
        socket.pipe(onward);
        onward.on('error', () => socket.destroy()).pipe(socket);
      });
      const from = url('', 'postgres', address, await scene.listen(relay, address));
      assert.match(protectionProblem((await connect(from)).protection) ?? '', /not encrypted/);
      const problems: string[] = [];
      const session = await Session.open({
        url: from,
        applicationName: 'test',
        connectTimeoutMs: 20_000,
        role: 'reader',
        observer: { ...silentObserver, unprotected: (problem) => problems.push(problem) },
      });
      await session.close();
      assert.match(problems.join(), /not encrypted.*sslmode=verify-full/);
    }
    assert.equal(protectionProblem((await connect(scene.server.adminUrl)).protection), undefined, 'loopback');
    const far = { host: 'db', isLocal: false } as const;
    assert.match(protectionProblem({ ...far, protocol: undefined, verified: 'nothing' }) ?? '', /not encrypted/);
    assert.match(protectionProblem({ ...far, protocol: 'TLSv1.3', verified: 'nothing' }) ?? '', /nobody checks/);
    assert.equal(protectionProblem({ ...far, protocol: 'TLSv1.3', verified: 'chain' }), undefined);
    assert.equal(protectionProblem({ ...far, protocol: 'TLSv1.3', verified: 'name' }), undefined);
    assert.equal(protectionProblem({ ...far, isLocal: true, protocol: undefined, verified: 'nothing' }), undefined);
  });
});
