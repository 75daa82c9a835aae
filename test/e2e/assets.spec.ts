import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readPostmasterPid } from '../../src/tools/local-postgres/embedded/postmaster.js';
import { endWithUs } from '../support/child-guard.js';
import { freePort } from '../support/ports.js';
import { customDefinition, definitionsPath } from './support/custom-definitions.js';
import { childrenOf, isRunning } from './support/processes.js';
import { runProgram } from './support/program.js';
import { exitOf, SuitePlane, type SuitePlaneOptions } from './support/suite-plane.js';
import { eventually } from './support/test-cluster.js';

let folder: string;
let options: SuitePlaneOptions;

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'plinth assets '));
  // The user that runs Postgres must be able to enter the folder.
  chmodSync(folder, 0o711);
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary, { mode: 0o711 });
  options = {
    assets: join(folder, 'bin'),
    temporary,
    // Nothing may be written into the home folder.
    environment: { PATH: process.env.PATH, TMPDIR: temporary, HOME: '/nonexistent' },
  };
});
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));

/** The folder that all stores of this test share. */
function sharedFolder(): string {
  const [name] = readdirSync(options.temporary).filter((entry) => entry.startsWith('plinth-postgres-'));
  assert.ok(name !== undefined);
  return join(options.temporary, name);
}

/** The keeper and the Postgres of that folder. */
async function sharedProcesses(): Promise<{ readonly keeper: number; readonly postmaster: number }> {
  const keeper = Number(readFileSync(join(sharedFolder(), 'keeper', 'plinth.pid'), 'utf8').split(' ')[0]);
  const postmaster = await readPostmasterPid(join(sharedFolder(), 'postgres'));
  assert.ok(postmaster !== undefined);
  return { keeper, postmaster };
}

function run(name: string, ...flags: readonly string[]) {
  return spawnSync(join(options.assets, name), flags, { env: options.environment, encoding: 'utf8' });
}

describe('the programs that plinth assets writes', { skip: process.platform !== 'linux' }, () => {
  it('are written into a folder, and nothing of others is overwritten', async () => {
    const made = await runProgram('assets', options.assets);
    assert.equal(made.code, 0, made.stderr);
    assert.ok(made.stdout.includes(`KUBEBUILDER_ASSETS='${options.assets}'`), made.stdout);
    assert.equal((await runProgram('assets', options.assets)).code, 0);
    const foreign = join(folder, 'foreign');
    mkdirSync(foreign);
    writeFileSync(join(foreign, 'etcd'), 'other');
    const refused = await runProgram('assets', foreign);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /etcd was not made by plinth/);
    assert.deepEqual(readdirSync(foreign), ['etcd']);
    assert.equal((await runProgram('assets')).code, 2);
  });

  it('print their flags, and refuse others', () => {
    const server = run('kube-apiserver', '--help');
    assert.equal(server.status, 0);
    assert.doesNotMatch(server.stdout, /^\s*--insecure-port\b/m);
    assert.match(server.stdout, /^\s*--etcd-servers\b/m);
    const store = run('etcd', '--help');
    assert.equal(store.status, 0);
    assert.match(store.stdout, /^\s*--unsafe-no-fsync\b/m);
    const unknown = run('kube-apiserver', '--etcd-servers=http://127.0.0.1:1', '--bogus=1');
    assert.equal(unknown.status, 2);
    assert.match(unknown.stderr, /unknown flag --bogus/);
    assert.match(run('kube-apiserver', '--allow-privileged=false').stderr, /--allow-privileged false: must be true/);
    assert.match(run('etcd', '--listen-client-urls=https://x:1').stderr, /not an http URL/);
  });

  it('print their versions in the form that scripts read', () => {
    // Both version numbers, and nothing else, come before the name of the program that takes the place of the original.
    for (const flags of [['--version'], ['--version=true'], ['--etcd-servers=http://127.0.0.1:1', '--version']]) {
      const { status, stdout, stderr } = run('kube-apiserver', ...flags);
      assert.deepEqual([status, stderr], [0, '']);
      assert.match(stdout, /^Kubernetes v1\.\d+\.\d+\+plinth-\S+\n$/, flags.join(' '));
    }
    const raw = run('kube-apiserver', '--version=raw');
    assert.equal(raw.status, 0);
    assert.match(raw.stdout, /^version\.Info\{Major:"1", Minor:"\d+", GitVersion:"v1\.[^"]+", .*Platform:"[^"]+"\}\n$/);
    for (const flag of ['--version', '-version', '--version=true']) {
      const { status, stdout, stderr } = run('etcd', flag);
      assert.deepEqual([status, stderr], [0, '']);
      assert.match(
        stdout,
        /^etcd Version: 3\.\d+\.\d+\+plinth-\S+\nGit SHA: .+\nGo Version: .+\nGo OS\/Arch: \w+\/\w+\n$/,
        flag,
      );
    }
    const bad = run('kube-apiserver', '--version=bogus');
    assert.equal(bad.status, 2);
    assert.match(bad.stderr, /^plinth: --version bogus: must be true, false or raw$/m);
    assert.match(run('kube-apiserver', '--version=false').stderr, /--etcd-servers must name the store/);
    assert.match(run('etcd', '--version=raw').stderr, /^plinth: --version raw: must be true or false$/m);
  });

  it('run from a copy, by a link, by a relative path and from a folder that nobody may write to', () => {
    const copies = join(folder, "a copy's folder");
    mkdirSync(join(copies, 'links'), { recursive: true });
    for (const name of ['kube-apiserver', 'etcd']) {
      copyFileSync(join(options.assets, name), join(copies, name));
      symlinkSync(join(options.assets, name), join(copies, 'links', name));
    }
    chmodSync(copies, 0o555);
    const env = { HOME: '/nonexistent' };
    const relative = (path: string) => spawnSync(path, ['--version'], { cwd: copies, env, encoding: 'utf8' });
    try {
      for (const path of ['./etcd', './links/etcd', 'links/../etcd', join(copies, 'etcd')]) {
        const { status, stdout, stderr } = relative(path);
        assert.deepEqual([status, stderr], [0, ''], path);
        assert.match(stdout, /^etcd Version: /, path);
      }
      assert.match(relative('./links/kube-apiserver').stdout, /^Kubernetes v1\./);
    } finally {
      chmodSync(copies, 0o755);
    }
  });

  it('serve two suites at once, and leave nothing behind', { timeout: 120_000 }, async () => {
    const planes = await Promise.all([SuitePlane.start(options), SuitePlane.start(options)]);
    const [first, second] = planes;
    const { keeper, postmaster } = await sharedProcesses();

    // The first write after the health check works.
    const map = { metadata: { name: 'mine' }, data: { a: 'b' } };
    const mine = '/api/v1/namespaces/default/configmaps';
    for (const { client } of planes) assert.equal((await client.post(mine, map)).status, 201);
    assert.equal((await first.client.delete(`${mine}/mine`)).status, 200);
    assert.equal((await second.client.get(`${mine}/mine`)).status, 200, 'suites share no objects');

    // The control loops don't run, but new kinds are served.
    assert.equal((await first.client.post('/api/v1/namespaces', { metadata: { name: 'ns' } })).status, 201);
    const definition = customDefinition({ plural: 'widgets', kind: 'Widget' }, [{ name: 'v1' }]);
    assert.equal((await first.client.post(definitionsPath, definition)).status, 201);
    const widgets = '/apis/test.example/v1/namespaces/ns/widgets';
    await eventually(async () => (await first.client.get(widgets)).status === 200, 'the kind is served');
    const widget = { apiVersion: 'test.example/v1', kind: 'Widget', metadata: { name: 'w' } };
    assert.equal((await first.client.post(widgets, widget)).status, 201);
    for (const path of ['/api/v1/serviceaccounts', '/api/v1/namespaces/ns/configmaps']) {
      assert.deepEqual((await first.client.get(path)).body.items, []);
    }
    assert.equal((await first.client.delete('/api/v1/namespaces/ns')).status, 200);
    assert.equal((await first.client.get('/api/v1/namespaces/ns')).body.status.phase, 'Terminating');
    assert.equal((await first.client.get(`${widgets}/w`)).status, 200, 'nobody empties the namespace');

    // A suite only sees signals and health at the start and the end of a server.
    assert.match(first.log, /--listen-peer-urls, .* have no effect: the store is PostgreSQL/);
    assert.deepEqual(await Promise.all(planes.map((plane) => plane.stop())), [
      [0, 0],
      [0, 0],
    ]);
    for (const { dataDirectory } of planes) rmSync(dirname(dataDirectory), { recursive: true });
    await eventually(() => !isRunning(keeper) && !isRunning(postmaster), 'the shared Postgres has ended');
    assert.deepEqual(readdirSync(options.temporary).length, 1);
    for (const name of ['keeper.sock', 'keeper/plinth.pid', 'postgres/postmaster.pid']) {
      assert.equal(existsSync(join(sharedFolder(), name)), false, name);
    }
  });

  it('keep the data of a folder, and end with a killed suite', { timeout: 120_000 }, async () => {
    const plane = await SuitePlane.start(options);
    const map = '/api/v1/namespaces/default/configmaps';
    assert.equal((await plane.client.post(map, { metadata: { name: 'kept' } })).status, 201);
    assert.deepEqual(await plane.stop(), [0, 0]);
    plane.children.splice(0);
    await plane.startStore();
    const taken = run(
      'etcd',
      `--data-dir=${plane.dataDirectory}`,
      `--listen-client-urls=http://127.0.0.1:${await freePort()}`,
    );
    assert.equal(taken.status, 1);
    assert.match(taken.stderr, /another plinth .* uses /);
    await plane.startServer('--etcd-prefix=/registry', '--storage-backend=etcd3', '--v=2');
    assert.equal((await plane.client.get(`${map}/kept`)).status, 200);
    assert.match(plane.log, /--storage-backend has no effect/);

    // A suite that is killed stops nothing. Its processes notice that it is gone.
    const flags = [`--data-dir=${join(folder, 'orphan')}`, `--listen-client-urls=http://127.0.0.1:${await freePort()}`];
    const suite = spawn('/bin/sh', ['-c', '"$@" & wait', 'suite', join(options.assets, 'etcd'), ...flags], {
      env: options.environment,
      stdio: 'ignore',
    });
    endWithUs(suite);
    await eventually(() => existsSync(join(folder, 'orphan', 'plinth-databases.json')), 'the store has its database');
    const [store] = childrenOf(suite.pid as number);
    assert.ok(store !== undefined);
    suite.kill('SIGKILL');
    await eventually(() => !isRunning(store), 'the store ended with its suite');

    // When a keeper is killed, its Postgres ends too, and the store reports that.
    const { keeper, postmaster } = await sharedProcesses();
    process.kill(keeper, 'SIGKILL');
    const [etcd, server] = plane.children;
    assert.ok(etcd !== undefined && server !== undefined);
    assert.equal(await exitOf(etcd), 1);
    await eventually(() => !isRunning(postmaster), 'the Postgres ended with its keeper');
    assert.match(plane.log, /the shared Postgres has ended/);
    server.kill('SIGTERM');
    await exitOf(server);
    plane.client.close();
  });
});
