import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { migrate } from '../../src/storage/postgres/migrate.js';
import { createPostgresStorage } from '../../src/storage/postgres/postgres-storage.js';
import { databaseFindings } from '../../src/tools/cli/doctor/database.js';
import type { DatabaseNeeds } from '../../src/tools/cli/doctor/database-needs.js';
import type { Finding } from '../../src/tools/cli/doctor/finding.js';
import { runProgram } from '../e2e/support/program.js';
import { PgBouncer } from '../support/pgbouncer.js';
import { takeSnapshot } from '../support/postgres-snapshot.js';
import { serverAuth, TestIdentity } from '../support/test-authority.js';
import { startTestPostgres, type TestPostgres, type TestStandby } from '../support/test-postgres.js';

/*
 * Set-ups of a database as they go wrong, on real servers: the doctor finds each, and names what cures it.
 * `npm run check:doctor`.
 */

const dayMs = 86_400_000;
/** Readable by the user that the servers run as. */
const folder = mkdtempSync(join(tmpdir(), 'plinth-doctor-check-'));
chmodSync(folder, 0o755);

let plain: TestPostgres;
let standby: TestStandby;
let tls: TestPostgres;
let careless: TestPostgres;
let databaseUrl: string;
let authority: TestIdentity;
let serial = 0;

before(async () => {
  authority = await TestIdentity.root('authority of the database');
  const server = await authority.issue({
    subject: [{ CN: ['database'] }],
    usages: [serverAuth],
    names: [{ type: 'dns', value: 'database.example.com' }],
  });
  write('authority.crt', authority.cert);
  write('pg_hba.conf', 'hostssl all certified all cert\nhost all secret all scram-sha-256\nhost all all all trust\n');
  plain = await startTestPostgres({
    settings: { wal_keep_size: '64MB', max_connections: '60' },
  });
  standby = await plain.createStandby();
  tls = await startTestPostgres({
    tls: { certificate: server.chain || server.cert, privateKey: server.key },
    settings: {
      listen_addresses: '*',
      ssl_ca_file: join(folder, 'authority.crt'),
      hba_file: join(folder, 'pg_hba.conf'),
    },
  });
  careless = await startTestPostgres({
    settings: { fsync: 'off', full_page_writes: 'off', wal_level: 'minimal', max_wal_senders: '0', autovacuum: 'off' },
  });
  databaseUrl = await plain.createTestDatabase();
  await standby.caughtUp();
});
after(async () => {
  await Promise.all([standby.stop(), plain.stop(), tls.stop(), careless.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

function write(name: string, text: string, mode = 0o644): string {
  const path = join(folder, name);
  writeFileSync(path, text, { mode });
  return path;
}

async function sql(text: string, url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

function moved(url: string, change: (url: URL) => void): string {
  const made = new URL(url);
  change(made);
  return made.href;
}

function on(server: TestPostgres, parameters = ''): string {
  return `${moved(server.adminUrl, () => undefined)}${parameters}`;
}

/** A database of a role of its own, for which `settings` are made. */
async function ownDatabase(settings: (role: string, database: string) => string): Promise<string> {
  const name = `broken_${++serial}`;
  await sql(`create role ${name} login`, plain.adminUrl);
  await sql(`create database ${name} owner ${name}`, plain.adminUrl);
  const url = moved(plain.adminUrl, (made) => {
    made.username = name;
    made.pathname = `/${name}`;
  });
  await migrate(url);
  const text = settings(name, name);
  if (text !== '') await sql(text, plain.adminUrl);
  return url;
}

async function clientCertificate(subject: string, notAfter: Date): Promise<string> {
  const client = await authority.issue({ subject: [{ CN: [subject] }], notAfter, notBefore: new Date(0) });
  const name = `client-${++serial}`;
  const [certificate, key] = [write(`${name}.crt`, client.chain), write(`${name}.key`, client.key, 0o600)];
  return `sslcert=${certificate}&sslkey=${key}`;
}

interface SetUp {
  readonly name: string;
  /** What the doctor checks. */
  readonly needs: () => Promise<Partial<DatabaseNeeds>> | Partial<DatabaseNeeds>;
  readonly check: string;
  readonly finding: RegExp;
  readonly now?: () => number;
}

const certified = (rest: string) => moved(tls.adminUrl, (url) => (url.username = 'certified')) + rest;
const outside = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.internal === false && one.family === 'IPv4')?.address;

const setUps: readonly SetUp[] = [
  {
    name: 'nothing listens there',
    needs: () => ({ databaseUrl: 'postgresql://u@127.0.0.1:1/d' }),
    check: 'database',
    finding: /^error: .*ECONNREFUSED.* -> start the database, open the way to its port, or correct --database-url/,
  },
  {
    name: 'a server without TLS, and sslmode=require',
    needs: () => ({ databaseUrl: on(plain, '?sslmode=require') }),
    check: 'database',
    finding: /^error: .* -> switch TLS on in the database \(ssl = on\), or correct sslmode/,
  },
  {
    name: 'an authority that is not that of the certificate',
    needs: async () => {
      const other = write('other.crt', (await TestIdentity.root('another authority')).cert);
      return { databaseUrl: on(tls, `?sslmode=verify-ca&sslrootcert=${other}`) };
    },
    check: 'database',
    finding: /^error: .* -> name the authority of the database's certificate by sslrootcert/,
  },
  {
    name: 'a certificate for another host',
    needs: () => ({ databaseUrl: on(tls, `?sslmode=verify-full&sslrootcert=${join(folder, 'authority.crt')}`) }),
    check: 'database',
    finding: /^error: .* -> name the host in --database-url as the certificate does, or use sslmode=verify-ca/,
  },
  {
    name: 'a client certificate that has expired',
    needs: async () => ({
      databaseUrl: certified(`?sslmode=require&${await clientCertificate('certified', new Date(Date.now() - dayMs))}`),
    }),
    check: 'database',
    finding: /^error: .* -> renew the certificate of sslcert/,
  },
  {
    name: 'no client certificate for a role that needs one',
    needs: () => ({ databaseUrl: certified('?sslmode=require') }),
    check: 'database',
    finding: /^error: .* -> name the certificate and key of the role by sslcert and sslkey/,
  },
  {
    name: 'a file of the authority that is not there',
    needs: () => ({ databaseUrl: on(tls, '?sslmode=verify-full&sslrootcert=/no/authority.crt') }),
    check: 'database',
    finding: /^error: .* -> correct the file of sslrootcert, sslcert or sslkey/,
  },
  {
    name: 'a wrong password',
    needs: async () => {
      await sql(`create role secret login password 'right'`, on(tls));
      const url = moved(tls.adminUrl, (made) => {
        made.username = 'secret';
        made.password = 'wrong';
      });
      return { databaseUrl: url };
    },
    check: 'database',
    finding: /^error: .* -> correct user and password in --database-url/,
  },
  {
    name: 'a database that does not exist',
    needs: () => ({ databaseUrl: moved(plain.adminUrl, (url) => (url.pathname = '/nowhere')) }),
    check: 'database',
    finding: /^error: .* -> create the database, or correct its name/,
  },
  {
    name: 'a way through the network in the clear',
    needs: () => ({ databaseUrl: moved(on(tls, '?sslmode=disable'), (url) => (url.hostname = String(outside))) }),
    check: 'database encryption',
    finding: /^warning: .* -> add sslmode=verify-full and sslrootcert/,
  },
  {
    name: 'a standby in place of the primary',
    needs: () => ({ databaseUrl: moved(databaseUrl, (url) => (url.port = String(standby.port))) }),
    check: 'database role',
    finding: /^error: .* -> name the primary, or all hosts, in --database-url/,
  },
  {
    name: 'the primary in place of a read replica',
    needs: () => ({ databaseUrl, readDatabaseUrl: databaseUrl }),
    check: 'read replica',
    finding: /^error: .* -> name a standby in --read-database-url/,
  },
  {
    name: 'a read replica that replays nothing',
    needs: async () => {
      const readDatabaseUrl = moved(databaseUrl, (url) => (url.port = String(standby.port)));
      await sql('select pg_wal_replay_pause()', standby.adminUrl);
      await sql('create table written_meanwhile (x int)', plain.adminUrl);
      return { databaseUrl, readDatabaseUrl };
    },
    check: 'read replica',
    finding: /^warning: .* -> look whether it receives and replays the log/,
  },
  {
    name: 'an encoding other than UTF8',
    needs: async () => {
      const made = `create database latin encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' template template0`;
      await sql(made, plain.adminUrl);
      return { databaseUrl: moved(plain.adminUrl, (url) => (url.pathname = '/latin')) };
    },
    check: 'database encoding',
    finding: /^error: .* -> create the database with encoding UTF8/,
  },
  {
    name: 'transactions that are read-only',
    needs: async () => ({
      databaseUrl: await ownDatabase((role) => `alter role ${role} set default_transaction_read_only = on`),
    }),
    check: 'session settings',
    finding: /^error: .* -> alter role \S+ reset default_transaction_read_only/,
  },
  {
    name: 'another isolation of transactions',
    needs: async () => ({
      databaseUrl: await ownDatabase(
        (_, name) => `alter database ${name} set default_transaction_isolation = serializable`,
      ),
    }),
    check: 'session settings',
    finding: /^error: .* -> alter role .* alter database \S+ reset default_transaction_isolation/,
  },
  {
    name: 'statements that are cut off',
    needs: async () => ({
      databaseUrl: await ownDatabase((role) => `alter role ${role} set statement_timeout = '5s'`),
    }),
    check: 'session settings',
    finding: /^warning: statement_timeout is 5000 ms.* -> alter role \S+ reset statement_timeout/,
  },
  {
    name: 'idle connections that are ended',
    needs: async () => ({
      databaseUrl: await ownDatabase((role) => `alter role ${role} set idle_session_timeout = '10s'`),
    }),
    check: 'session settings',
    finding: /^warning: idle_session_timeout .* -> alter role \S+ reset idle_session_timeout/,
  },
  {
    name: 'a role that may have few connections',
    needs: async () => ({ databaseUrl: await ownDatabase((role) => `alter role ${role} connection limit 4`) }),
    check: 'connection limit',
    finding: /^error: role .* -> alter role \S+ connection limit -1/,
  },
  {
    name: 'a server with few connections',
    needs: () => ({ databaseUrl, connections: 100 }),
    check: 'database connections',
    finding: /^error: .* -> raise max_connections/,
  },
  ...(
    [
      ['fsync', /^warning: off: .* -> alter system set fsync = on/],
      ['full_page_writes', /^warning: off: .* -> alter system set full_page_writes = on/],
      ['autovacuum', /^warning: off: .* -> alter system set autovacuum = on/],
      ['wal_level', /^warning: minimal: .* -> alter system set wal_level = replica/],
    ] as const
  ).map(([check, finding]) => ({
    name: `${check} off or too low`,
    needs: () => ({ databaseUrl: on(careless) }),
    check,
    finding,
  })),
  {
    name: 'commits that do not wait for the disk',
    needs: async () => ({
      databaseUrl: await ownDatabase((role) => `alter role ${role} set synchronous_commit = off`),
    }),
    check: 'synchronous_commit',
    finding: /^warning: .* -> alter system set synchronous_commit = on/,
  },
  {
    name: 'clocks that differ',
    needs: () => ({ databaseUrl }),
    now: () => Date.now() - 300_000,
    check: 'clock',
    finding: /^error: .* -> run chrony or systemd-timesyncd/,
  },
  {
    name: 'no schema yet',
    needs: async () => {
      await sql('create database fresh', plain.adminUrl);
      return { databaseUrl: moved(plain.adminUrl, (url) => (url.pathname = '/fresh')) };
    },
    check: 'schema',
    finding: /^warning: .* -> run plinth migrate/,
  },
  {
    name: 'a schema of a newer release',
    needs: async () => {
      const url = await ownDatabase(() => '');
      await sql(`insert into plinth.applied_migrations (version, name, digest) values (99, 'later', 'x')`, url);
      return { databaseUrl: url };
    },
    check: 'schema',
    finding: /^error: .* -> install the newer release here too/,
  },
  {
    name: 'functions of another build',
    needs: async () => {
      const url = await ownDatabase(() => '');
      await sql(`update plinth.applied_texts set digest = 'x' where name = 'log_bounds'`, url);
      return { databaseUrl: url };
    },
    check: 'schema',
    finding: /^error: .* -> run plinth migrate with this program/,
  },
  {
    name: 'a role without rights',
    needs: async () => {
      await sql('create role weak login', plain.adminUrl);
      return { databaseUrl: moved(databaseUrl, (url) => (url.username = 'weak')) };
    },
    check: 'rights',
    finding: /^error: .* -> connect as its owner, or grant that role to weak/,
  },
  {
    name: 'a copy of a database in use, without the fence',
    needs: async () => {
      const url = await ownDatabase(() => '');
      const storage = await createPostgresStorage({ databaseUrl: url });
      await storage.stop();
      const { pathname } = new URL(url);
      await sql(`create database copied template ${pathname.slice(1)} owner ${pathname.slice(1)}`, plain.adminUrl);
      return { databaseUrl: moved(url, (made) => (made.pathname = '/copied')) };
    },
    check: 'history',
    finding: /^warning: .* -> run plinth fence before the servers start/,
  },
  {
    name: 'a logical replica in place of its primary',
    needs: async () => {
      const url = await ownDatabase(() => '');
      await sql('update plinth.epoch set replica = true', url);
      return { databaseUrl: url };
    },
    check: 'history',
    finding: /^error: .* -> name the database that it is a replica of/,
  },
  {
    name: 'a replication slot that nobody reads',
    needs: async () => {
      await sql(`select pg_create_physical_replication_slot('forgotten', true)`, plain.adminUrl);
      return { databaseUrl };
    },
    check: 'disk of the database',
    finding: /^warning: .* -> start its reader, or select pg_drop_replication_slot\('forgotten'\)/,
  },
];

describe('the doctor finds', () => {
  for (const { name, needs, check, finding, now = Date.now } of setUps) {
    const skip = check === 'database encryption' && outside === undefined ? 'no address besides the loopback' : false;
    it(name, { skip }, async () => {
      const all = { databaseUrl, listenDatabaseUrl: undefined, connections: 5, ...(await needs()) };
      assert.match(adviceOf(await databaseFindings(all, now), check), finding);
    });
  }

  for (const [mode, check, finding] of [
    ['transaction', 'notifications', /^warning: .* -> name the database itself by --listen-database-url/],
    ['statement', 'pooler', /^error: .* -> pool_mode = transaction/],
  ] as const) {
    it(`a pooler in mode ${mode}`, async () => {
      const pooler = await PgBouncer.start(plain.adminUrl, { settings: { pool_mode: mode } });
      try {
        const all = { databaseUrl: pooler.through(databaseUrl), listenDatabaseUrl: undefined, connections: 5 };
        assert.match(adviceOf(await databaseFindings(all, Date.now), check), finding);
      } finally {
        await pooler.stop();
      }
    });
  }

  it('a restored database beside the standby of its lost state', async () => {
    const server = await startTestPostgres({ settings: { wal_keep_size: '64MB' } });
    const beside = await server.createStandby();
    try {
      const url = await server.createTestDatabase();
      const work = async (name: string) => {
        const storage = await createPostgresStorage({ databaseUrl: url });
        await storage.create({ resource: 'things', namespace: '', name }, 'u', '{}');
        await storage.stop();
      };
      await work('kept');
      const restore = await takeSnapshot(server);
      await work('lost');
      await beside.caughtUp();
      await restore();
      const readDatabaseUrl = moved(url, (made) => (made.port = String(beside.port)));
      const all = { databaseUrl: url, readDatabaseUrl, listenDatabaseUrl: undefined, connections: 5 };
      assert.match(
        adviceOf(await databaseFindings(all, Date.now), 'read replica'),
        /^error: .* versions that the database lacks.* -> run plinth fence/,
      );
    } finally {
      await beside.stop();
      await server.stop();
    }
  });

  it('a file with a password that everybody may read', async () => {
    const path = write('password', 'right\n');
    const { stdout } = await runProgram(
      'doctor',
      '--output=json',
      `--database-url=${databaseUrl}`,
      `--database-password-file=${path}`,
    );
    assert.match(adviceOf(JSON.parse(stdout), 'file of --database-password-file'), /^warning: .* -> chmod 600 /);
  });

  it('nothing where all is well', async () => {
    await sql('select pg_wal_replay_resume()', standby.adminUrl);
    await sql(`select pg_drop_replication_slot('forgotten')`, plain.adminUrl);
    await standby.caughtUp();
    const readDatabaseUrl = moved(databaseUrl, (url) => (url.port = String(standby.port)));
    const all = { databaseUrl, readDatabaseUrl, listenDatabaseUrl: undefined, connections: 5 };
    const bad = (await databaseFindings(all, Date.now)).filter(
      ({ verdict }) => verdict === 'error' || verdict === 'warning',
    );
    // Servers of tests do not wait for their disk.
    assert.deepEqual(
      bad.filter(({ check }) => check !== 'fsync' && check !== 'full_page_writes'),
      [],
    );
  });
});

function adviceOf(findings: readonly Finding[], check: string): string {
  const found = findings.filter((one) => one.check === check);
  const worst = found.find(({ verdict }) => verdict === 'error' || verdict === 'warning') ?? found[0];
  if (worst === undefined) return `nothing about ${check}: ${JSON.stringify(findings)}`;
  return `${worst.verdict}: ${worst.text} -> ${worst.remedy}`.replaceAll('\n', ' ');
}
