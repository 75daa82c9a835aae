import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, connect as dial, type Server, type Socket } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { promisify } from 'node:util';
import { eventually } from '../../../test/e2e/support/test-cluster.js';
import { PgBouncer } from '../../../test/support/pgbouncer.js';
import { serverAuth, TestIdentity } from '../../../test/support/test-authority.js';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { silentObserver } from '../../storage/postgres/postgres-storage-options.js';
import { Session } from '../../storage/postgres/session.js';
import { cancelStatement } from './cancel-statement.js';
import { connectDatabase, type DatabaseConnection } from './connect-database.js';
import { databaseTargets } from './database-targets.js';
import { noTls } from './open-stream.js';
import { protectionProblem } from './protection.js';

type Variables = Readonly<Record<string, string>>;

describe('the connection to the database', () => {
  let folder: string;
  let authority: TestIdentity;
  let leaf: TestIdentity;
  let user: TestIdentity;
  let server: TestPostgres;
  let plain: TestPostgres;
  let rules: string;
  const file = (name: string): string => join(folder, name);

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'plinth-database-'));
    await chmod(folder, 0o755);
    authority = await TestIdentity.root('database authority');
    const other = await TestIdentity.root('another authority');
    leaf = await authority.issue({
      subject: [{ CN: ['database'] }],
      usages: [serverAuth],
      names: [{ type: 'dns', value: 'localhost' }],
    });
    user = await authority.issue({ subject: [{ CN: ['certain'] }] });
    const crl = (await authority.revocationList([leaf])).toString('base64');
    for (const [name, text] of [
      ['ca.pem', authority.cert],
      ['other.pem', other.cert],
      ['user.pem', user.cert],
      ['user.key', user.key],
      ['crl.pem', `-----BEGIN X509 CRL-----\n${crl}\n-----END X509 CRL-----\n`],
    ] as const) {
      await writeFile(file(name), text);
    }
    rules = file('hba.conf');
    await writeFile(
      rules,
      [
        'hostssl all certain 127.0.0.1/32 cert clientcert=verify-full',
        'hostssl all guarded 127.0.0.1/32 scram-sha-256',
        'hostssl all plainly 127.0.0.1/32 password',
        'hostnossl all clear 127.0.0.1/32 trust',
        'hostssl all clear 127.0.0.1/32 reject',
        'hostssl all rotated 127.0.0.1/32 scram-sha-256',
        'hostssl all strict 127.0.0.1/32 trust',
        'host all postgres 127.0.0.1/32 trust',
      ].join('\n'),
    );
    await chmod(rules, 0o644);
    server = await startTestPostgres({
      tls: { certificate: leaf.cert, privateKey: leaf.key },
      settings: { hba_file: rules, ssl_ca_file: file('ca.pem') },
    });
    plain = await startTestPostgres({ settings: { work_mem: '4MB' } });
    const { client } = await connect(server.adminUrl);
    await client.query(`create role certain login; create role guarded login password 'secret';
      create role plainly login password 'secret'; create role clear login; create role strict login`);
    await client.end();
  });
  after(async () => {
    await server?.stop();
    await plain?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const opened: { end(): void }[] = [];
  afterEach(() => {
    for (const each of opened.splice(0)) each.end();
  });

  async function connect(url: string, variables: Variables = {}, timeoutMs = 20_000): Promise<DatabaseConnection> {
    const [target] = databaseTargets(url, variables);
    assert.ok(target !== undefined);
    const connection = await connectDatabase({ target, config: {}, timeoutMs });
    opened.push({ end: () => connection.stream.destroy() });
    return connection;
  }
  const url = (parameters = '', role = 'postgres', host = '127.0.0.1', port = server.port): string =>
    `postgres://${role}@${host}:${port}/postgres${parameters}`;
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
      assert.equal(await isEncrypted(url(parameters, 'postgres', '127.0.0.1', plain.port)), false, parameters);
    }
    for (const mode of ['require', 'verify-full', 'no-verify']) {
      await assert.rejects(connect(url(`?sslmode=${mode}`, 'postgres', '127.0.0.1', plain.port)), { message: noTls });
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
    await assert.rejects(connect(url('', 'postgres', '127.0.0.1', plain.port), { PGSSLMODE: 'require' }), {
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

  describe('obtains the password', () => {
    const role = 'rotated';
    const setPassword = async (password: string): Promise<void> => {
      const { client } = await connect(server.adminUrl);
      await client.query(`alter role ${role} password '${password}'`);
    };
    const from = (parameters: Readonly<Record<string, string>>) => url(`?${new URLSearchParams(parameters)}`, role);

    before(async () => {
      const { client } = await connect(server.adminUrl);
      await client.query(`create role ${role} login password 'first'`);
    });

    it('from a file, which may change', async () => {
      const path = file('password');
      for (const password of ['first', ' se:c\\ond ']) {
        await writeFile(path, `${password}\n`);
        await setPassword(password);
        await connect(from({ password_file: path }));
      }
      await writeFile(path, 'wrong\n');
      await assert.rejects(connect(from({ password_file: path }), {}, 2000), { code: '28P01' });
      await writeFile(path, '\n');
      await assert.rejects(connect(from({ password_file: path })), /the password file .* is empty/);
      await assert.rejects(connect(from({ password_file: file('absent') })), /ENOENT.*absent/);
      await assert.rejects(connect(from({ password_file: path, password_command: 'x' })), /only one of/);
    });

    it('from a command, whose output serves until it is refused or too old', async () => {
      const runs = file('runs');
      const script = (password: string) => `printf '%s@%s\\n' "$PGUSER" "$PGPORT" >> ${runs}; echo ${password}`;
      const countRuns = async () => (await readFile(runs, 'utf8')).split('\n').length - 1;
      await setPassword('from-a-command');
      const kept = { password_command: script(`"$(cat ${file('token')})"`) };
      await writeFile(file('token'), 'from-a-command');
      await Promise.all([connect(from(kept)), connect(from(kept)), connect(from(kept))]);
      await connect(from(kept));
      assert.equal(await countRuns(), 1, 'connections share what a command has printed');
      assert.equal((await readFile(runs, 'utf8')).trim(), `${role}@${server.port}`);
      await setPassword('the-next');
      await writeFile(file('token'), 'the-next');
      await connect(from(kept));
      assert.equal(await countRuns(), 2, 'a refused password is replaced');
      const short = { password_command: script('the-next'), password_lifetime: '0' };
      await connect(from(short));
      await connect(from(short));
      assert.equal(await countRuns(), 4);
    });

    it('again in a program that does nothing else meanwhile', async () => {
      const path = file('alone');
      await setPassword('alone');
      await writeFile(path, 'alone');
      const program = `const { connectDatabase } = await import(process.argv[1]);
        const { databaseTargets } = await import(process.argv[2]);
        const { writeFileSync } = await import('node:fs');
        const connect = () =>
          connectDatabase({ target: databaseTargets(process.argv[3], {})[0], config: {}, timeoutMs: 20_000 });
        const main = async () => {
          await (await connect()).client.end();
          writeFileSync(process.argv[4], 'wrong');
          setTimeout(() => writeFileSync(process.argv[4], 'alone'), 500).unref();
          const { stream } = await connect();
          console.log('connected');
          stream.destroy();
        };
        void main();`;
      const modules = ['./connect-database.js', './database-targets.js'].map((name) => import.meta.resolve(name));
      const args = ['--input-type=module', '-e', program, ...modules, from({ password_file: path }), path];
      assert.equal((await promisify(execFile)(process.execPath, args)).stdout, 'connected\n');
    });

    it('again while the source and the role disagree, for an account that was accepted', async () => {
      const runs = file('rotations');
      const token = file('rotating');
      const command = { password_command: `echo >> ${runs}; cat ${token}` };
      const urlFile = file('url');
      const countRuns = async () => (await readFile(runs, 'utf8')).length;
      const inUrl = (password: string) => writeFile(urlFile, url('', `${role}:${password}`));
      await setPassword('before');
      await writeFile(token, 'before');
      await inUrl('before');
      await connect(from(command));
      // The command prints the next password before the role has it, and the file of a URL gets it after the role.
      await writeFile(token, 'after');
      const { client } = await connect(server.adminUrl);
      await client.query('select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [role]);
      await client.query(`alter role ${role} password 'between'`);
      const waiting = Promise.all([connect(from(command)), connect(`file://${urlFile}`)]);
      const before = await countRuns();
      await eventually(async () => (await countRuns()) >= before + 2, 'attempts with a refused password');
      await client.query(`alter role ${role} password 'after'`);
      await inUrl('after');
      await waiting;
      // A password that stays wrong is an error within the time limit.
      await writeFile(token, 'wrong');
      await setPassword('the last');
      await assert.rejects(connect(from(command), {}, 2000), { code: '28P01' });
    });

    it('and reports how a command failed, without what it printed', async () => {
      await assert.rejects(
        connect(from({ password_command: 'echo secret-word; echo why >&2; exit 3' })),
        (error: Error) => /exit code 3: why$/.test(error.message) && !error.message.includes('secret-word'),
      );
      await assert.rejects(connect(from({ password_command: 'true' })), /the command .* is empty/);
      await assert.rejects(connect(from({ password_command: 'exec sleep 1' }), {}, 300), /timeout expired/);
    });

    it('from the password file of libpq', async () => {
      await setPassword('of:the\\file');
      const path = file('pgpass');
      const lines = [
        '# a comment',
        `other:*:*:${role}:wrong`,
        `127.0.0.1:${server.port}:other:${role}:wrong`,
        `127.0.0.1:*:postgres:${role}:of:the\\\\file`,
        `*:*:*:*:wrong`,
      ];
      await writeFile(path, lines.join('\n'), { mode: 0o600 });
      await connect(from({ passfile: path }));
      await connect(url('', role), { PGPASSFILE: path });
      await assert.rejects(connect(url('', `${role}:given`), { PGPASSFILE: path }), { code: '28P01' });
      await chmod(path, 0o644);
      await assert.rejects(connect(from({ passfile: path })), /can be read by others: chmod 0600/);
    });

    it('with the whole URL from a file', async () => {
      const path = file('database-url');
      await setPassword('in-the-url');
      const at = `file://${path}`;
      await writeFile(path, `${url('', `${role}:in-the-url`)}\n`);
      const { client } = await connect(at);
      assert.equal((await client.query('select current_user')).rows[0].current_user, role);
      await writeFile(path, 'mysql://u:secret-word@h/d');
      await assert.rejects(
        connect(at),
        (error: Error) => /holds no postgresql/.test(error.message) && !error.message.includes('secret-word'),
      );
      await writeFile(path, url('?sslmode=require', role));
      await writeFile(file('password'), 'in-the-url');
      await connect(`${at}?${new URLSearchParams({ password_file: file('password') })}`);
      await assert.rejects(connect('file:///absent/url'), /can't be read: ENOENT/);
    });
  });

  it('binds the password to the certificate when that is asked for', async () => {
    const bound = '?sslmode=require&channel_binding=require';
    const guarded = (parameters: string, role = 'guarded:secret') => connect(url(parameters, role));
    await guarded(bound);
    await guarded('?channel_binding=prefer');
    await assert.rejects(guarded(bound, 'plainly:secret'), /does not bind the password/);
    await assert.rejects(guarded(bound, 'strict'), /does not bind the password/);
    await assert.rejects(guarded('?sslmode=disable&channel_binding=require'), /no pg_hba.conf entry/);
  });

  /** An attacker who poses as the server. */
  async function pretender(
    talk: (socket: Socket) => void,
  ): Promise<{ readonly at: string; readonly arrived: Buffer[] }> {
    const arrived: Buffer[] = [];
    const fake: Server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (chunk: Buffer) => arrived.push(chunk));
      talk(socket);
    });
    await new Promise<void>((resolve) => fake.listen(0, '127.0.0.1', resolve));
    opened.push({ end: () => fake.close() });
    return { at: `postgres://u:secret@127.0.0.1:${(fake.address() as AddressInfo).port}/d`, arrived };
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
        { cert: leaf.chain, key: leaf.key, ...(ALPNProtocols && { ALPNProtocols }) },
        (socket) => {
          socket.on('error', () => undefined);
          socket.once('data', (bytes: Buffer) => {
            seen(bytes);
            socket.destroy();
          });
        },
      );
      fake.on('tlsClientError', () => undefined);
      await new Promise<void>((resolve) => fake.listen(0, '127.0.0.1', resolve));
      opened.push({ end: () => fake.close() });
      return {
        at: url('?sslmode=require&sslnegotiation=direct', 'u', '127.0.0.1', (fake.address() as AddressInfo).port),
        first,
      };
    };
    const right = await direct(['postgresql']);
    await assert.rejects(connect(right.at), /terminated|ECONNRESET/);
    assert.equal((await right.first).readInt32BE(4), 196_608, 'the first message of the protocol');
    await assert.rejects(connect((await direct()).at), /did not agree to speak/);
    await assert.rejects(connect((await direct(['http/1.1'])).at), /ALPN|application protocol|did not agree|alert/i);
    // The release of the server may or may not know direct negotiation.
    const { client } = await connect(server.adminUrl);
    const { rows } = await client.query(`select current_setting('server_version_num')::int >= 170000 as knows`);
    const attempt = connect(url('?sslmode=require&sslnegotiation=direct')).then(
      ({ protection }) => protection.protocol !== undefined,
      () => false,
    );
    assert.equal(await attempt, rows[0].knows);
  });

  it('is cancelled over TLS too', async () => {
    const firsts: Buffer[] = [];
    const between = createServer((socket) => {
      const onward = dial(server.port, '127.0.0.1');
      let sent = Buffer.alloc(0);
      socket
        .on('error', () => onward.destroy())
        .on('data', (chunk: Buffer) => {
          sent = Buffer.concat([sent, chunk]);
        });
      socket.on('close', () => firsts.push(sent));
      onward.on('error', () => socket.destroy());
      socket.pipe(onward).pipe(socket);
    });
    await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve));
    opened.push({ end: () => between.close() });
    const connection = await connect(url('', 'postgres', '127.0.0.1', (between.address() as AddressInfo).port));
    const { client } = connection;
    const asked = assert.rejects(client.query('select pg_sleep(600)'), { code: '57014' });
    const watcher = await connect(server.adminUrl);
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
      await writeFile(file('leaf.pem'), leaf.cert);
      await writeFile(file('leaf.key'), leaf.key);
      await chmod(file('leaf.key'), 0o644);
      pooler = await PgBouncer.start(server.adminUrl, {
        settings: {
          client_tls_sslmode: 'require',
          client_tls_cert_file: file('leaf.pem'),
          client_tls_key_file: file('leaf.key'),
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
        const onward = dial(plain.port, '127.0.0.1');
        socket.on('error', () => onward.destroy()).pipe(onward);
        onward.on('error', () => socket.destroy()).pipe(socket);
      });
      await new Promise<void>((resolve) => relay.listen(0, address, resolve));
      opened.push({ end: () => relay.close() });
      const from = url('', 'postgres', address, (relay.address() as AddressInfo).port);
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
    assert.equal(protectionProblem((await connect(server.adminUrl)).protection), undefined, 'loopback');
    const far = { host: 'db', isLocal: false } as const;
    assert.match(protectionProblem({ ...far, protocol: undefined, verified: 'nothing' }) ?? '', /not encrypted/);
    assert.match(protectionProblem({ ...far, protocol: 'TLSv1.3', verified: 'nothing' }) ?? '', /nobody checks/);
    assert.equal(protectionProblem({ ...far, protocol: 'TLSv1.3', verified: 'chain' }), undefined);
    assert.equal(protectionProblem({ ...far, protocol: 'TLSv1.3', verified: 'name' }), undefined);
    assert.equal(protectionProblem({ ...far, isLocal: true, protocol: undefined, verified: 'nothing' }), undefined);
  });
});
