import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { authorityFinding, pairFinding, tokenKeyFindings } from '../../src/tools/cli/doctor/certificates.js';
import { databaseFindings } from '../../src/tools/cli/doctor/database.js';
import type { Finding } from '../../src/tools/cli/doctor/finding.js';
import { type Machine, machineFindings, thisMachine } from '../../src/tools/cli/doctor/machine.js';
import { issueCertificate } from '../../src/tools/cli/pki/issue-certificate.js';
import { mainFile } from '../support/main-file.js';
import { PgBouncer } from '../support/pgbouncer.js';
import { runProgram } from './support/program.js';
import { TestCluster } from './support/test-cluster.js';

const dayMs = 86_400_000;
const now = Date.now();

let cluster: TestCluster;
let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plinth-doctor-'));
  cluster = await TestCluster.start({ servers: 1, flags: ['--authorization-mode=RBAC'] });
});
after(async () => {
  await cluster.stop();
  await rm(folder, { recursive: true });
});

/** The first finding other than `ok`, in a form to compare. */
function adviceOf(findings: readonly Finding[], check: string): string {
  const found = findings.filter((one) => one.check === check);
  const worst = found.find(({ verdict }) => verdict !== 'ok') ?? found[0];
  assert.ok(worst, `nothing about ${check}: ${JSON.stringify(findings)}`);
  const isBad = worst.verdict === 'error' || worst.verdict === 'warning';
  assert.equal(worst.remedy !== undefined, isBad, 'a remedy for what is wrong, and only for that');
  return `${worst.verdict}: ${worst.text}`;
}

function remedy(findings: readonly Finding[], check: string): string | undefined {
  return findings.find((one) => one.check === check && one.remedy !== undefined)?.remedy;
}

async function doctor(...flags: readonly string[]) {
  const { code, stdout, stderr } = await runProgram('doctor', '--output=json', '--secure-port=1', ...flags);
  assert.equal(stderr, '');
  return { code, findings: JSON.parse(stdout) as readonly Finding[] };
}

describe('plinth doctor: the machine', () => {
  const needs = {
    watchCacheMaxBytes: 2 ** 30,
    workers: 1,
    folders: [],
    port: { address: '127.0.0.1', port: 0 },
  };
  const look = async (machine: Partial<Machine>, more: Partial<Parameters<typeof machineFindings>[1]> = {}) =>
    machineFindings({ ...(await thisMachine()), ...machine }, { ...needs, ...more });

  it('is fine here', async () => {
    for (const { verdict, check } of await look({ openFiles: 65_536 })) assert.equal(verdict, 'ok', check);
  });

  it('is shown what it lacks', async () => {
    assert.match(adviceOf(await look({ nodeVersion: 'v22.1.0' }), 'node'), /^error: Node v22\.1\.0 is too old/);
    assert.match(adviceOf(await look({ nodeVersion: 'v25.1.0' }), 'node'), /^warning: .*without long-term support/);
    assert.match(adviceOf(await look({ platform: 'aix' }), 'platform'), /^warning: aix on .* is not tested/);
    assert.match(adviceOf(await look({ memoryBytes: 2 ** 28 }), 'memory'), /^error: 256 MiB of memory is too little/);
    assert.match(adviceOf(await look({ memoryBytes: 2 ** 30 }), 'memory'), /^warning: 1\.0 GiB .* take up to 1\.5 GiB/);
    assert.match(adviceOf(await look({ openFiles: 1024 }), 'open files'), /^warning: at most 1024 /);
    assert.match(adviceOf(await look({ openFiles: undefined }), 'open files'), /^skipped: /);
    const folders = [{ flag: 'audit-log-path', path: '/proc' }];
    assert.match(adviceOf(await look({}, { folders }), 'disk of --audit-log-path'), /^warning: 0 bytes free/);
  });

  it('has the port taken', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { readonly port: number };
    const findings = await look({}, { port: { address: '127.0.0.1', port } });
    assert.match(adviceOf(findings, 'port'), new RegExp(`^warning: .* already listens on 127\\.0\\.0\\.1:${port}`));
    server.close();
  });
});

describe('plinth doctor: the database', () => {
  const needs = () => ({ databaseUrl: cluster.databaseUrl, listenDatabaseUrl: undefined, connections: 5 });
  const look = (more: Partial<Parameters<typeof databaseFindings>[0]> = {}, clock = () => Date.now()) =>
    databaseFindings({ ...needs(), ...more }, clock);
  /** The same database, with settings of the session. */
  const with_ = (settings: string) => {
    const url = new URL(cluster.databaseUrl);
    url.searchParams.set('options', settings);
    return url.href;
  };

  async function sql(text: string, url = cluster.databaseUrl): Promise<void> {
    const client = new pg.Client(url);
    await client.connect();
    await client.query(text);
    await client.end();
  }

  async function emptyDatabase(name: string): Promise<string> {
    await sql(`create database ${name}`, cluster.postgres.adminUrl);
    const url = new URL(cluster.postgres.adminUrl);
    url.pathname = `/${name}`;
    return url.href;
  }

  it('is fine while it serves', async () => {
    const findings = await look();
    assert.match(adviceOf(findings, 'database version'), /^ok: PostgreSQL 1\d/);
    for (const check of ['database', 'clock', 'rights', 'schema', 'readers of the log', 'vacuum', 'notifications']) {
      assert.match(adviceOf(findings, check), /^ok: /, check);
    }
    assert.match(adviceOf(findings, 'disk of the database'), /^skipped: it takes \d+(\.\d)? MiB/);
  });

  it('cannot be reached, or used', async () => {
    const refused = await look({ databaseUrl: 'postgresql://plinth@127.0.0.1:1/plinth' });
    assert.match(adviceOf(refused, 'database'), /^error: .*ECONNREFUSED/);
    assert.match(String(refused[0]?.remedy), /^start the database/);
    const url = new URL(cluster.databaseUrl);
    url.pathname = '/nowhere';
    const absent = await look({ databaseUrl: url.href });
    assert.match(adviceOf(absent, 'database'), /"nowhere" does not exist/);
    assert.match(String(absent[0]?.remedy), /^create the database/);
    url.username = 'nobody-knows';
    const [unknown] = await look({ databaseUrl: url.href });
    assert.match(String(unknown?.remedy), /^correct user and password/);
    url.search = '?sslmode=require';
    const [bare] = await look({ databaseUrl: url.href });
    assert.match(String(bare?.remedy), /sslmode/);
    url.search = '?sslmode=verify-full&sslrootcert=/no/authority.crt';
    const [lost] = await look({ databaseUrl: url.href });
    assert.match(String(lost?.text), /\/no\/authority\.crt/);
    assert.match(String(lost?.remedy), /^correct the file of sslrootcert/);
    // A server of another protocol listens there.
    const [other] = await look({
      databaseUrl: `postgresql://plinth@127.0.0.1:${new URL(cluster.first.url).port}/plinth`,
    });
    assert.match(String(other?.remedy), /^look whether that is the port of a PostgreSQL/);
  });

  it('has another time', async () => {
    // Reduced by the time that a response takes on a busy machine.
    assert.match(adviceOf(await look({}, () => Date.now() + 30_000), 'clock'), /^warning: .* differ by [123]\d\.\d s/);
    assert.match(adviceOf(await look({}, () => Date.now() - 120_000), 'clock'), /^error: .* differ by 1[12]\d\.\d s/);
  });

  it('has dangerous settings', async () => {
    const findings = await look({ databaseUrl: with_('-c synchronous_commit=off') });
    assert.match(adviceOf(findings, 'synchronous_commit'), /^warning: off: a crash of the database loses writes/);
    // Databases of tests do not wait for their disk, except those with PostgreSQL's default settings.
    const admin = new pg.Client({ connectionString: cluster.databaseUrl });
    await admin.connect();
    const { rows } = await admin.query<{ fsync: string }>('show fsync');
    await admin.end();
    if (rows[0]?.fsync === 'off') assert.match(adviceOf(findings, 'fsync'), /^warning: off: /);
    else assert.ok(findings.every(({ check }) => check !== 'fsync'));
  });

  it('has settings with which the server does not work', async () => {
    for (const [settings, finding] of [
      ['default_transaction_read_only=on', /^error: transactions are read-only/],
      ['default_transaction_isolation=serializable', /^error: the isolation of transactions is serializable/],
      ['statement_timeout=5s', /^warning: statement_timeout is 5000 ms/],
      ['lock_timeout=1s', /^warning: lock_timeout is 1000 ms/],
      ['idle_session_timeout=10s', /^warning: idle_session_timeout is 10000 ms/],
      ['statement_timeout=60s', /^ok: no setting prevents/],
    ] as const) {
      const findings = await look({ databaseUrl: with_(`-c ${settings}`) });
      assert.match(adviceOf(findings, 'session settings'), finding);
    }
  });

  it('was copied while a server worked in it, and says so until the fence', async () => {
    const databaseUrl = await emptyDatabase('copied');
    assert.equal((await runProgram('migrate', `--database-url=${databaseUrl}`)).code, 0);
    assert.match(adviceOf(await look({ databaseUrl }), 'history'), /^ok: /);
    await sql('update plinth.epoch set relation = 1, database = 1', databaseUrl);
    assert.match(adviceOf(await look({ databaseUrl }), 'history'), /^warning: it was restored or copied/);
    const fenced = await runProgram('fence', `--database-url=${databaseUrl}`);
    assert.equal(fenced.code, 0, fenced.stderr);
    assert.match(adviceOf(await look({ databaseUrl }), 'history'), /^ok: /);
  });

  it('has too few connections', async () => {
    assert.match(adviceOf(await look({ connections: 5000 }), 'database connections'), /^error: .* takes up to 5000/);
  });

  it('stands behind a pooler in transaction mode', async () => {
    const pooler = await PgBouncer.start(cluster.postgres.adminUrl);
    try {
      const databaseUrl = pooler.through(cluster.databaseUrl);
      assert.match(adviceOf(await look({ databaseUrl }), 'notifications'), /^warning: they do not arrive/);
      const direct = await look({ databaseUrl, listenDatabaseUrl: cluster.databaseUrl });
      assert.match(adviceOf(direct, 'notifications'), /^ok: they arrive; statements go through a pooler/);
    } finally {
      await pooler.stop();
    }
  });

  it('has no schema, another one, or one of somebody else', async () => {
    const databaseUrl = await emptyDatabase('fresh');
    const schema = async () => adviceOf(await look({ databaseUrl }), 'schema');
    assert.match(await schema(), /^warning: it is not there yet/);
    assert.equal((await runProgram('migrate', `--database-url=${databaseUrl}`)).code, 0);
    const again = await runProgram('migrate', `--database-url=${databaseUrl}`);
    assert.match(
      again.stdout + again.stderr,
      /INFO +database schema is up to date/,
      'a second run says that there is nothing to do',
    );
    assert.match(await schema(), /^ok: /);
    const last =
      'delete from plinth.applied_migrations where version = (select max(version) from plinth.applied_migrations)';
    await sql(last, databaseUrl);
    assert.match(await schema(), /^error: the database has schema version \d+, this program needs \d+: migrate first/);
    await sql("insert into plinth.applied_migrations (version, name, digest) values (99, 'later', 'x')", databaseUrl);
    assert.match(await schema(), /^error: .* schema version 99, this program knows only \d+: run a newer program/);
    assert.equal(remedy(await look({ databaseUrl }), 'schema'), 'install the newer release here too');
    const early = await emptyDatabase('early');
    await sql('create schema plinth; create table plinth.schema_migrations (version int)', early);
    assert.match(String(remedy(await look({ databaseUrl: early }), 'schema')), /^name an empty database/);
    const foreign = await emptyDatabase('others');
    await sql('create schema plinth; create table plinth.objects (id int)', foreign);
    assert.match(
      adviceOf(await look({ databaseUrl: foreign }), 'schema'),
      /^error: .*schema plinth .* of another program/,
    );
    const refused = await runProgram('migrate', `--database-url=${foreign}`);
    assert.deepEqual([refused.code, refused.stderr.split('\n').length], [1, 2], refused.stderr);
    assert.match(refused.stderr, /schema plinth .* of another program/);
    await sql('create role weak login', databaseUrl);
    const url = new URL(databaseUrl);
    url.username = 'weak';
    assert.match(
      adviceOf(await look({ databaseUrl: url.href }), 'rights'),
      /^error: role weak does not own the schema/,
    );
    const empty = new URL(await emptyDatabase('bare'));
    empty.username = 'weak';
    assert.match(
      adviceOf(await look({ databaseUrl: empty.href }), 'rights'),
      /^error: role weak may not create schemas/,
    );
  });

  it('keeps what nobody needs', async () => {
    const client = new pg.Client(cluster.databaseUrl);
    await client.connect();
    await client.query('begin isolation level repeatable read; select 1');
    assert.match(
      adviceOf(await look({ longTransactionSeconds: 0 }), 'vacuum'),
      /^warning: process \d+ has a transaction open/,
    );
    await client.query('rollback');
    await client.query("select pg_create_physical_replication_slot('forgotten', true)");
    assert.match(
      adviceOf(await look(), 'disk of the database'),
      /^warning: nobody reads the replication slot forgotten/,
    );
    await client.query("select pg_drop_replication_slot('forgotten')");
    await client.end();
  });
});

describe('plinth doctor: certificates and files', () => {
  const write = async (name: string, text: string) => {
    await writeFile(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const issue = (usage: 'ca' | 'server' | 'client', at = now, issuer?: Parameters<typeof issueCertificate>[2]) =>
    issueCertificate({ commonName: usage, usage, names: ['localhost'], validDays: 365 }, at, issuer);
  const look = async (
    pair: { readonly certificate: string; readonly privateKey: string },
    more: Partial<Parameters<typeof pairFinding>[0]> = {},
    at = now,
  ) => {
    const certificate = { flag: '--c', path: await write('c.crt', pair.certificate) };
    const key = { flag: '--k', path: await write('c.key', pair.privateKey) };
    return adviceOf([await pairFinding({ certificate, key, usage: 'server', ...more }, at)], 'certificate of --c');
  };

  it('are looked at one by one', async () => {
    const authority = await issue('ca');
    const server = await issue('server', now, authority);
    assert.match(await look(server, { names: ['localhost'] }), /^ok: CN=server, valid until 20/);
    assert.match(await look(server, {}, now + 366 * dayMs), /^error: .* expired on 20/);
    assert.match(await look(server, {}, now + 350 * dayMs), /^warning: .* expires in 1\d days/);
    assert.match(await look(server, {}, now - 2 * dayMs), /^error: .* is not valid before/);
    assert.match(await look({ ...server, privateKey: authority.privateKey }), /^error: .* is not the key of/);
    assert.match(await look({ ...server, privateKey: 'x' }), /^error: .* has no private key in PEM/);
    assert.match(await look({ ...server, certificate: 'x' }), /^error: .* has no certificate in PEM/);
    assert.match(await look(server, { usage: 'client' }), /^error: .* is not meant for clients/);
    assert.match(await look(server, { usage: 'ca' }), /^error: .* may not sign/);
    assert.match(
      await look(server, { names: ['a.test', '10.0.0.1'] }),
      /^warning: .* lacks the names a\.test, 10\.0\.0\.1/,
    );
  });

  it('lead to their authority', async () => {
    const root = await issue('ca');
    const other = await issue('ca');
    const middle = await issueCertificate({ commonName: 'middle', usage: 'ca', validDays: 365 }, now, root);
    const server = await issue('server', now, middle);
    const authority = await write('root.crt', root.certificate);
    const chain = { ...server, certificate: server.certificate + middle.certificate };
    assert.match(await look(chain, { authority }), /^ok: /);
    assert.match(await look(server, { authority }), /^error: .* does not lead to an authority in /);
    const mixed = { ...server, certificate: server.certificate + other.certificate };
    assert.match(await look(mixed, { authority }), /^error: in .*, certificate 1 is not signed by the next one/);
    assert.match(adviceOf([await authorityFinding('--a', authority, now)], 'authorities of --a'), /^ok: CN=ca/);
    const leaf = await write('leaf.crt', server.certificate);
    assert.match(
      adviceOf([await authorityFinding('--a', leaf, now)], 'authorities of --a'),
      /^warning: CN=server .* is not that of/,
    );
  });

  it('verify the tokens that they sign', async () => {
    const [one, two] = [await issue('client'), await issue('client')];
    const flag = '--service-account-signing-key-file';
    const signing = [{ flag, path: await write('sign.key', one.privateKey) }];
    const check = 'keys of account tokens';
    const verifier = await write('verify.crt', one.certificate);
    assert.match(adviceOf(await tokenKeyFindings(signing, [verifier]), check), /^ok: .* signs by ECDSA/);
    const wrong = await write('wrong.crt', two.certificate);
    assert.match(
      adviceOf(await tokenKeyFindings(signing, [wrong]), check),
      /^error: tokens signed with .* are verified by no/,
    );
    assert.match(adviceOf(await tokenKeyFindings(signing, [await write('none', 'x')]), check), /^error: .* has no key/);
  });

  it('are not open to everybody', async () => {
    const { privateKey, certificate } = await issue('server');
    const key = await write('open.key', privateKey);
    await chmod(key, 0o644);
    const flags = [`--tls-cert-file=${await write('open.crt', certificate)}`, `--tls-private-key-file=${key}`];
    const absent = `--client-ca-file=${join(folder, 'absent.crt')}`;
    const { code, findings } = await doctor(...flags, absent, `--token-auth-file=${folder}`);
    assert.equal(code, 1);
    assert.match(adviceOf(findings, 'file of --tls-private-key-file'), /^warning: .* is open to every user \(644\)/);
    assert.match(adviceOf(findings, 'file of --tls-cert-file'), /^ok: /);
    assert.match(adviceOf(findings, 'file of --client-ca-file'), /^error: .* is not there/);
    assert.match(adviceOf(findings, 'file of --token-auth-file'), /^error: .* is a folder/);
    assert.match(
      adviceOf(findings, 'certificate of --tls-cert-file'),
      /^warning: .* lacks the names? .*kubernetes\.default\.svc/,
    );
  });
});

describe('plinth doctor: the kubeconfig', () => {
  const look = async (change: (text: string) => string) => {
    const file = join(folder, 'kubeconfig');
    await copyFile(cluster.first.kubeconfig, file);
    await writeFile(file, change(await readFile(file, 'utf8')));
    return doctor(`--kubeconfig=${file}`);
  };

  it('is fine, and everything else too', async () => {
    const { code, findings } = await doctor(
      `--kubeconfig=${cluster.first.kubeconfig}`,
      `--database-url=${cluster.databaseUrl}`,
    );
    assert.equal(code, 0, JSON.stringify(findings));
    assert.match(adviceOf(findings, 'cluster'), /^ok: https:.* answers, and its certificate is trusted/);
    assert.equal(adviceOf(findings, 'cluster user'), 'ok: admin');
    assert.match(adviceOf(findings, 'cluster rights'), /^ok: admin may list namespaces/);
    const { code: done, stdout } = await runProgram('doctor', `--kubeconfig=${cluster.first.kubeconfig}`);
    assert.equal(done, 0);
    assert.match(stdout, /^ok {7}cluster user +admin$/m);
  });

  it('leads nowhere, to another authority, or identifies nobody', async () => {
    const gone = await look((text) => text.replace(/server: .*/, 'server: "https://127.0.0.1:1"'));
    assert.equal(gone.code, 1);
    assert.match(adviceOf(gone.findings, 'cluster'), /^error: https:\/\/127\.0\.0\.1:1: .*ECONNREFUSED/);
    const { certificate, privateKey } = await issueCertificate({ commonName: 'x', usage: 'ca', validDays: 1 }, now);
    const encode = (pem: string) => Buffer.from(pem).toString('base64');
    const foreign = await look((text) =>
      text.replace(/certificate-authority-data: .*/, `certificate-authority-data: ${encode(certificate)}`),
    );
    assert.match(String(foreign.findings.at(-1)?.remedy), /^certificate-authority-data is not that of the server/);
    const stranger = await look((text) =>
      text
        .replace(/client-certificate-data: .*/, `client-certificate-data: ${encode(certificate)}`)
        .replace(/client-key-data: .*/, `client-key-data: ${encode(privateKey)}`),
    );
    assert.equal(stranger.code, 1);
    assert.match(adviceOf(stranger.findings, 'cluster user'), /^error: /);
    const broken = await look(() => '[');
    assert.match(adviceOf(broken.findings, 'kubeconfig'), /^error: .* is neither YAML nor JSON/);
    const split = await look((text) =>
      text.replace(/client-certificate-data: .*/, 'token: "a\\nb"').replace(/client-key-data: .*/, ''),
    );
    assert.match(String(split.findings.at(-1)?.remedy), /^correct the token/);
    const withPlugin = (fields: string) =>
      look((text) =>
        text.replace(/client-certificate-data: .*/, `exec: { ${fields} }`).replace(/client-key-data: .*/, ''),
      );
    const incomplete = await withPlugin('command: /no/plugin');
    assert.match(
      adviceOf(incomplete.findings, 'kubeconfig'),
      /^error: .*: exec: apiVersion must be client\.authentication/,
    );
    const version = 'apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never';
    const plugin = await withPlugin(`${version}, command: /no/plugin`);
    assert.equal(plugin.code, 1);
    assert.match(
      adviceOf(plugin.findings, 'kubeconfig'),
      /^error: .* \(exec\) \/no\/plugin: there is no such program$/,
    );
    assert.match(String(plugin.findings.at(-1)?.remedy), /^run the program by hand/);
    const weak = await doctor(`--kubeconfig=${cluster.first.kubeconfig}`, '--token=bob-token');
    assert.equal(weak.code, 0);
    assert.match(adviceOf(weak.findings, 'cluster rights'), /^warning: bob may not list namespaces/);
  });

  it('is one of those that KUBECONFIG names', () => {
    const look = (value: string) => {
      const env = { PATH: process.env.PATH, KUBECONFIG: value };
      return spawnSync(process.execPath, [mainFile, 'doctor', '--secure-port=1'], { env, encoding: 'utf8' });
    };
    const { kubeconfig } = cluster.first;
    const both = look(`${kubeconfig}:${kubeconfig}`);
    assert.equal(both.status, 1);
    assert.match(both.stdout, /^error +kubeconfig +KUBECONFIG names 2 files -> name one of them by --kubeconfig$/m);
    assert.match(look(`/no/other:${kubeconfig}`).stdout, /^ok +cluster user +admin$/m);
  });

  it('does not wait for pipes, and reads nothing that has no end', async () => {
    const pipe = join(folder, 'pipe');
    assert.equal(spawnSync('mkfifo', [pipe]).status, 0);
    for (const path of [pipe, '/dev/zero']) {
      const { findings } = await doctor(
        `--kubeconfig=${path}`,
        `--client-ca-file=${path}`,
        `--token-auth-file=${path}`,
      );
      for (const flag of ['kubeconfig', 'client-ca-file', 'token-auth-file']) {
        assert.match(adviceOf(findings, `file of --${flag}`), /^skipped: .* is a pipe or a device/);
      }
      assert.match(adviceOf(findings, 'cluster'), /^skipped/);
    }
    const huge = join(folder, 'huge');
    await writeFile(huge, '');
    await truncate(huge, 2 ** 36);
    const { findings } = await doctor(`--token-auth-file=${huge}`);
    assert.match(adviceOf(findings, 'file of --token-auth-file'), /^error: .* has 64 GiB/);
  });
});
