import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Client } from 'pg';
import { Kubectl } from '../e2e/support/kubectl.js';
import { eventually } from '../e2e/support/test-cluster.js';
import { endWithUs } from '../support/child-guard.js';
import { mainFile } from '../support/main-file.js';
import { freePort } from '../support/ports.js';
import { startTestPostgres, type TestPostgres } from '../support/test-postgres.js';

/*
 * docker-compose.yml without an engine: the file is parsed by Docker Compose's own code, and its services run as
 * processes, in the order of their dependencies. A process has a port instead of a container's address, and a folder
 * instead of a volume. Needs Go, HAProxy and kubectl.
 */

const root = join(import.meta.dirname, '../../..');
const source = join(root, 'test/deploy/compose');
const pkiPath = '/var/lib/plinth/pki';

interface Service {
  readonly image: string;
  readonly command: readonly string[] | null;
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly volumes?: readonly { readonly source: string; readonly target: string; readonly type: string }[];
  readonly stop_grace_period?: string;
}

interface Project {
  readonly services: Readonly<Record<string, Service>>;
}

let folder: string;
let reader: string;
let postgres: TestPostgres;
let project: Project;
const running = new Map<string, { readonly child: ChildProcess; output: string }>();
const ports = new Map<string, number>();

function readCompose(text: string, environment: Readonly<Record<string, string>> = {}) {
  const file = join(folder, 'docker-compose.yml');
  writeFileSync(file, text);
  const env = { PATH: process.env.PATH, HOME: folder, ...environment };
  return spawnSync(reader, [file], { encoding: 'utf8', env });
}

/** The arguments and variables of a service, with replacements for its container on this machine. */
function onThisMachine(text: string): string {
  return text
    .replaceAll(pkiPath, join(folder, 'pki'))
    .replace('postgres:5432', `127.0.0.1:${postgres.port}`)
    .replace('127.0.0.1:6443', `127.0.0.1:${ports.get('load-balancer')}`);
}

function start(name: string): { readonly child: ChildProcess; output: string } {
  const { command, environment = {} } = project.services[name] as Service;
  const set = Object.entries(environment).map(([key, value]) => [key, onThisMachine(value)]);
  const port = ports.get(name);
  const own = port === undefined ? {} : { PLINTH_SECURE_PORT: String(port) };
  const child = spawn(process.execPath, [mainFile, ...(command ?? []).map(onThisMachine)], {
    // That of the image.
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      PLINTH_CERT_DIR: join(folder, 'pki'),
      ...Object.fromEntries(set),
      ...own,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  endWithUs(child);
  const one = { child, output: '' };
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      one.output += chunk.toString();
    });
  }
  running.set(name, one);
  return one;
}

async function endOf({ child }: { readonly child: ChildProcess }): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
  return child.exitCode;
}

/** Starts a service when its dependencies are in the required state. */
async function bringUp(name: string, up: Set<string>): Promise<void> {
  if (up.has(name) || name === 'postgres') return;
  up.add(name);
  for (const [other, { condition }] of Object.entries(project.services[name]?.depends_on ?? {})) {
    await bringUp(other, up);
    const before = running.get(other);
    if (condition === 'service_completed_successfully' && before !== undefined) {
      assert.equal(await endOf(before), 0, `${other}: ${before.output}`);
    }
  }
  if (project.services[name]?.image === 'plinth') start(name);
}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'plinth-compose-'));
  reader = join(folder, 'read-compose');
  const built = spawnSync('go', ['build', '-o', reader, '.'], { cwd: source, stdio: 'inherit' });
  assert.equal(built.status, 0, 'Go could not build the reader; is it installed?');
  postgres = await startTestPostgres({ settings: {} });
  const admin = new Client({ connectionString: postgres.adminUrl });
  await admin.connect();
  await admin.query("create role plinth login password 'plinth'");
  await admin.query('create database plinth owner plinth');
  await admin.end();
  for (const name of ['load-balancer', 'api-1', 'api-2']) ports.set(name, await freePort());
});
after(async () => {
  for (const { child } of running.values()) child.kill('SIGTERM');
  for (const one of running.values()) await endOf(one);
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('docker-compose.yml', { timeout: 300_000 }, () => {
  const text = readFileSync(join(root, 'docker-compose.yml'), 'utf8');

  it('is without fault for the code of Docker Compose, which finds faults', () => {
    const { status, stdout, stderr } = readCompose(text);
    assert.equal(status, 0, stderr);
    // Compose warns of parts that it would leave out.
    assert.equal(stderr, '');
    project = JSON.parse(stdout) as Project;
    for (const [from, to] of [
      ['restart: unless-stopped', 'restrat: unless-stopped'],
      ['condition: service_healthy', 'condition: service_well'],
      ['interval: 1s', 'interval: soon'],
      ['- api-2\n', '- api-3\n'],
    ] as const) {
      assert.ok(text.includes(from), from);
      assert.notEqual(readCompose(text.replace(from, to)).status, 0, to);
    }
  });

  it('takes the password from the environment, everywhere', () => {
    const { stdout } = readCompose(text, { PLINTH_POSTGRES_PASSWORD: 'other' });
    assert.match(stdout, /"POSTGRES_PASSWORD": "other"/);
    assert.doesNotMatch(stdout, /plinth:plinth@/);
    assert.ok(stdout.split('plinth:other@').length > 4);
  });

  it('names files that there are', () => {
    for (const { volumes = [] } of Object.values(project.services)) {
      for (const { type, source: path } of volumes) {
        if (type === 'bind') assert.ok(existsSync(path.replace(folder, root)), path);
      }
    }
  });

  it('starts, and serves through its load balancer while one of the servers ends', async () => {
    const up = new Set<string>();
    for (const name of Object.keys(project.services)) await bringUp(name, up);
    const configuration = readFileSync(join(root, 'deploy/haproxy.cfg'), 'utf8')
      .replace('bind :6443', `bind 127.0.0.1:${ports.get('load-balancer')}`)
      .replace(/^resolvers docker\n(?: .*\n)*/m, '')
      .replace(' resolvers docker init-addr last,libc,none', '')
      .replaceAll(/(api-[12]) api-[12]:6443/g, (_, name: string) => `${name} 127.0.0.1:${ports.get(name)}`);
    const file = join(folder, 'haproxy.cfg');
    writeFileSync(file, configuration);
    const checked = spawnSync('haproxy', ['-c', '-f', file], { encoding: 'utf8' });
    assert.equal(checked.status, 0, `${checked.error ?? ''}${checked.stderr}`);
    const balancer = spawn('haproxy', ['-f', file], { stdio: 'ignore' });
    endWithUs(balancer);
    running.set('load-balancer', { child: balancer, output: '' });

    const kubectl = new Kubectl(join(folder, 'pki', 'admin.kubeconfig'));
    await eventually(() => kubectl.run(['get', 'namespaces']).code === 0, 'the cluster answers', 60_000);
    kubectl.ok(['create', 'deployment', 'web', '--image=web', '--replicas=2']);
    const pods = () => kubectl.run(['get', 'pods', '-o', 'name']).stdout.split('\n').filter(Boolean).length;
    await eventually(() => pods() === 2, 'the control loops have made the pods', 60_000);

    const ending = running.get('api-1') as { readonly child: ChildProcess; output: string };
    ending.child.kill('SIGTERM');
    const begun = performance.now();
    let isOver = false;
    const over = endOf(ending).finally(() => {
      isOver = true;
    });
    let asked = 0;
    while (!isOver || asked < 5) {
      const { code, stderr } = kubectl.run(['get', 'deployments']);
      assert.equal(code, 0, stderr);
      asked++;
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(await over, 0, ending.output);
    const grace = Number.parseInt(project.services['api-1']?.stop_grace_period ?? '', 10);
    assert.ok(performance.now() - begun < grace * 1000, 'within the time that the file gives');
    start('api-1');
    await eventually(() => pods() === 2, 'it goes on');
  });
});
