import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { endWithUs } from '../support/child-guard.js';
import { mainFile } from '../support/main-file.js';
import { freePort } from '../support/ports.js';
import { startTestPostgres, type TestPostgres } from '../support/test-postgres.js';

let postgres: TestPostgres;
let folder: string;

before(async () => {
  postgres = await startTestPostgres();
  folder = mkdtempSync(join(tmpdir(), 'plinth-bad-configuration-'));
});

after(async () => {
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a server that must fail to start. */
async function run(databaseUrl: string, flags: readonly string[]) {
  const port = await freePort();
  const child = spawn(process.execPath, [mainFile, 'serve', `--secure-port=${port}`, ...flags], {
    env: { ...process.env, PLINTH_DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  endWithUs(child);
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString('utf8');
  });
  const [code] = (await once(child, 'close')) as [number];
  return { code, errors };
}

/** A database without migrations. */
async function emptyDatabase(): Promise<string> {
  const name = `plinth_test_${randomBytes(8).toString('hex')}`;
  const client = new pg.Client({ connectionString: postgres.adminUrl });
  await client.connect();
  try {
    await client.query(`create database ${name} template template0`);
  } finally {
    await client.end();
  }
  const url = new URL(postgres.adminUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** Schemas in a database besides the default ones. */
async function schemasOf(databaseUrl: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      "select nspname as name from pg_namespace where nspname !~ '^pg_' and nspname not in ('public', 'information_schema')",
    );
    return rows.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

describe('a wrong admission configuration', () => {
  it('ends the start with every fault at once, before anything is migrated', async () => {
    const file = join(folder, 'admission.yaml');
    writeFileSync(
      file,
      `apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: NoSuchPlugin
  configuration: {}
- name: EventRateLimit
  configuration:
    apiVersion: eventratelimit.admission.k8s.io/v1alpha1
    kind: Configuration
    limits: [{ type: Server, qps: 1, burst: 0, per: minute }]
- name: ImagePolicyWebhook
  path: missing.yaml
- name: PersistentVolumeLabel
  configuration: { any: thing }
- name: NamespaceExists
  configuration: {}
`,
    );
    const databaseUrl = await emptyDatabase();
    const { code, errors } = await run(databaseUrl, [
      `--cert-dir=${folder}`,
      '--enable-admission-plugins=EventRateLimit,PersistentVolumeLabel,NodeRestriction',
      `--admission-control-config-file=${file}`,
    ]);
    assert.notEqual(code, 0);
    for (const fault of [
      'plugins[0].name: there is no plugin "NoSuchPlugin"',
      'unknown field limits[0].per',
      'limits[0].burst must be positive',
      `${join(folder, 'missing.yaml')}: can't be read`,
      'the admission plugin PersistentVolumeLabel takes no configuration',
      'the admission plugin NamespaceExists does not run',
    ]) {
      assert.ok(errors.includes(fault), `${fault} is missing in:\n${errors}`);
    }
    assert.deepEqual(await schemasOf(databaseUrl), []);
  });

  it('ends the start for a plugin that the flags misname', async () => {
    const databaseUrl = await emptyDatabase();
    const { code, errors } = await run(databaseUrl, [
      '--enable-admission-plugins=NoSuchPlugin',
      '--disable-admission-plugins=NeitherThis',
    ]);
    assert.notEqual(code, 0);
    for (const name of ['NoSuchPlugin', 'NeitherThis']) assert.ok(errors.includes(`unknown plugin ${name}`), errors);
    assert.deepEqual(await schemasOf(databaseUrl), []);
  });
});
