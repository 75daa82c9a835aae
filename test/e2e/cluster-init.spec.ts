import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, realpath, rm, stat } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { initPhases } from '../../src/base/config/init.options.js';
import { loadClientConfig } from '../../src/base/outgoing/client-config.js';
import { endWithUs } from '../support/child-guard.js';
import { mainFile } from '../support/main-file.js';
import { answers, freePort } from '../support/ports.js';
import { programEnvironment } from '../support/program-environment.js';
import { startTestPostgres, type TestPostgres } from '../support/test-postgres.js';
import { ApiClient } from './support/api-client.js';
import { runProgram } from './support/program.js';

/** A run of a command that continues until it is stopped. */
class Run {
  output = '';
  errors = '';
  readonly ended: Promise<unknown>;

  constructor(readonly child: ChildProcess) {
    endWithUs(child);
    this.ended = once(child, 'close');
    child.stdout?.on('data', (chunk: Buffer) => {
      this.output += chunk.toString();
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      this.errors += chunk.toString();
    });
  }

  /** Waits for a text; fails when the program ends before. */
  async says(text: string): Promise<void> {
    while (!this.output.includes(text)) {
      const stdout = this.child.stdout as NonNullable<ChildProcess['stdout']>;
      const isOver = await Promise.race([once(stdout, 'data').then(() => false), this.ended.then(() => true)]);
      if (isOver && !this.output.includes(text)) assert.fail(`no ${text}: ${this.output}${this.errors}`);
    }
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    this.child.kill(signal);
    await this.ended;
  }
}

describe('plinth init', () => {
  let postgres: TestPostgres;
  let databaseUrl: string;
  let folder: string;
  let config: string;
  let port: number;
  /** The run that completed. */
  let run: Run;
  /** The arguments for a further control plane, as it printed them. */
  let joining: readonly string[];

  before(async () => {
    postgres = await startTestPostgres();
    databaseUrl = await postgres.createTestDatabase();
    folder = await realpath(await mkdtemp(join(tmpdir(), 'plinth-init-')));
    config = join(folder, 'config');
    port = await freePort();
  });
  after(async () => {
    await postgres?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  function init(environment: Readonly<Record<string, string>>, ...more: string[]): Run {
    const flags = ['--foreground', '--bind-address=127.0.0.1', `--apiserver-bind-port=${port}`];
    const args = ['init', ...flags, `--config-dir=${config}`, `--data-dir=${join(folder, 'data')}`, ...more];
    return new Run(
      spawn(process.execPath, [mainFile, ...args], {
        env: programEnvironment(environment),
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );
  }

  const contents = async () => {
    const names = (await readdir(config, { recursive: true, withFileTypes: true })).filter(
      (entry) => entry.isFile() && entry.name !== 'plinth.pid',
    );
    const paths = names.map(({ parentPath, name }) => join(parentPath, name)).sort();
    return Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await readFile(path, 'utf8')])));
  };

  it('says what it would do, and does nothing', async () => {
    const dry = init({ PLINTH_DATABASE_URL: databaseUrl }, '--dry-run', '--upload-certs');
    await dry.ended;
    for (const phase of initPhases) assert.match(dry.output, new RegExp(`^\\[${phase}\\] would `, 'm'));
    assert.equal(existsSync(config), false);
  });

  it('goes on after a kill at every step, and changes nothing that is right', async () => {
    for (const phase of initPhases) {
      const killed = init({ PLINTH_DATABASE_URL: databaseUrl }, '--upload-certs');
      await killed.says(`[${phase}]`);
      await killed.end('SIGKILL');
    }
    const before = await contents();
    // The earlier runs have recorded the database.
    run = init({}, '--log-level=debug', '--upload-certs');
    await run.says('keep it as secret');
    assert.deepEqual(await contents(), before);
    const [, token = ''] =
      /^ {2}plinth join 127\.0\.0\.1:\d+ --token (\S+) --discovery-token-ca-cert-hash sha256:/m.exec(
        run.output,
      ) as RegExpExecArray;
    const listed = await runProgram('token', 'list', '-o', 'json', `--kubeconfig=${join(config, 'admin.kubeconfig')}`);
    const tokens: readonly { token: string; usages: string[] }[] = JSON.parse(listed.stdout);
    assert.deepEqual(
      tokens.filter(({ usages }) => usages.length > 0).map((each) => each.token),
      [token.slice(0, 6)],
      'one token for all runs',
    );
    joining = /^ {2}plinth join (\S+ --token .*) --database-url URL$/m.exec(run.output)?.[1]?.split(' ') ?? [];
  });

  it('makes a cluster for its administrator, with no secret that others read', async () => {
    const { server, tls } = loadClientConfig(join(config, 'admin.kubeconfig'));
    const { ca = '', cert = '', key = '' } = tls;
    const client = new ApiClient(server.replace(/\/$/, ''), { ca, cert, key });
    assert.equal((await client.get('/api/v1/namespaces/kube-system/configmaps/kubeadm-config')).status, 200);
    const anonymous = new ApiClient(server.replace(/\/$/, ''), { ca });
    assert.equal((await anonymous.get('/api/v1/namespaces/kube-public/configmaps/cluster-info')).status, 200);
    assert.equal((await anonymous.get('/api/v1/namespaces')).status, 403);
    client.close();
    anonymous.close();
    for (const path of Object.keys(await contents())) {
      if (!path.endsWith('.crt')) assert.equal((await stat(path)).mode & 0o077, 0, path);
    }
    const password = new URL(databaseUrl).password;
    const lines = await readFile(`/proc/${run.child.pid}/cmdline`, 'utf8').catch(() => '');
    assert.ok(password === '' || !lines.includes(password));
    const busy = init({});
    await busy.ended;
    assert.match(busy.errors, /another plinth \(pid \d+\) uses .*--config-dir/);
  });

  describe('a further control plane', () => {
    let second: string;
    let secondPort: number;
    before(async () => {
      second = join(folder, 'second');
      secondPort = await freePort();
    });

    function join2(
      environment: Readonly<Record<string, string>>,
      args: readonly string[] = joining,
      ...more: string[]
    ) {
      const own = ['--bind-address=127.0.0.1', `--apiserver-bind-port=${secondPort}`, `--config-dir=${second}`];
      const env = programEnvironment(environment);
      return new Run(
        spawn(process.execPath, [mainFile, 'join', ...args, ...own, '--foreground', '--timeout=240s', ...more], {
          env,
          stdio: ['ignore', 'pipe', 'pipe'],
        }),
      );
    }

    it('is refused with another key or another database, and leaves nothing behind', async () => {
      const other = await postgres.createTestDatabase();
      const index = joining.indexOf('--certificate-key') + 1;
      const wrong = [...joining.slice(0, index), '0'.repeat(64), ...joining.slice(index + 1)];
      const attempts = [
        [{ PLINTH_DATABASE_URL: databaseUrl }, wrong, /has another --certificate-key/],
        [{ PLINTH_DATABASE_URL: databaseUrl }, joining.slice(0, index - 1), /needs --certificate-key/],
        [{}, joining, /needs the --database-url of the other control planes/],
        [{ PLINTH_DATABASE_URL: other }, joining, /plinth migrate|another cluster/],
      ] as const;
      for (const [environment, args, reason] of attempts) {
        const refused = join2(environment, args);
        await refused.ended;
        assert.match(refused.errors, reason, refused.output);
        assert.notEqual(refused.child.exitCode, 0);
        const removed = await runProgram('reset', '--force', `--config-dir=${second}`);
        assert.match(removed.stdout, /All of it is removed|Nothing was made here/, removed.stderr);
        assert.equal(existsSync(second), false);
      }
      const node = await runProgram('join', ...joining.filter((each) => each !== '--control-plane'));
      assert.match(node.stderr, /--certificate-key needs --control-plane/);
    });

    it('goes on after a kill at every step, and serves the same cluster', async () => {
      const environment = { PLINTH_DATABASE_URL: databaseUrl };
      for (const phase of ['discovery', 'download-certs', 'certs', 'kubeconfig', 'database', 'control-plane']) {
        const killed = join2(environment);
        await killed.says(`[${phase}]`);
        await killed.end('SIGKILL');
      }
      const runs = join2({});
      await runs.says('The servers of this machine are ready');
      for (const name of ['ca.crt', 'ca.key', 'front-proxy-ca.key', 'service-account.key']) {
        const [ours, theirs] = [join(second, 'pki', name), join(config, 'pki', name)];
        assert.equal(await readFile(ours, 'utf8'), await readFile(theirs, 'utf8'), name);
      }
      const { tls } = loadClientConfig(join(config, 'admin.kubeconfig'));
      const credentials = { ca: tls.ca ?? '', cert: tls.cert ?? '', key: tls.key ?? '' };
      const [one, two] = [port, secondPort].map((each) => new ApiClient(`https://127.0.0.1:${each}`, credentials));
      const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'by-two', namespace: 'default' } };
      assert.equal((await two?.post('/api/v1/namespaces/default/configmaps', map))?.status, 201);
      assert.equal((await one?.get('/api/v1/namespaces/default/configmaps/by-two'))?.status, 200);
      one?.close();
      two?.close();
      await runs.end('SIGTERM');
      assert.equal(runs.child.exitCode, 0, runs.errors);
      const removed = await runProgram('reset', '--force', `--config-dir=${second}`);
      assert.match(removed.stdout, /All of it is removed/, removed.stderr);
      assert.equal(existsSync(second), false);
    });
  });

  it('ends with its process', async () => {
    await run.end('SIGTERM');
    assert.equal(run.child.exitCode, 0, run.errors);
  });

  it('writes manifests of static pods without the URL of the database', async () => {
    const pods = join(folder, 'manifests');
    const failing = init({}, `--static-pods=${pods}`, '--skip-phases=token', '--timeout=1s');
    await failing.ended;
    assert.match(failing.errors, /is not ready/);
    const texts = await Promise.all(
      ['serve', 'controllers'].map((n) => readFile(join(pods, `plinth-${n}.json`), 'utf8')),
    );
    for (const text of texts) assert.ok(!text.includes(databaseUrl));
    const { spec } = JSON.parse(texts[0] as string);
    assert.deepEqual(spec.containers[0].command.slice(0, 4), [
      'node',
      `--env-file=${join(config, 'database.env')}`,
      '/app/bin/plinth.js',
      'serve',
    ]);
    const { users } = JSON.parse(await readFile(join(config, 'node.kubeconfig'), 'utf8'));
    const certificate = new X509Certificate(await readFile(users[0].user['client-certificate']));
    assert.equal(certificate.subject, `O=system:nodes\nCN=system:node:${hostname().toLowerCase()}`);
    assert.ok(certificate.verify(new X509Certificate(await readFile(join(config, 'pki', 'ca.crt'))).publicKey));
  });

  it('has a database of its own where none is named, which can run alone', async () => {
    const data = join(folder, 'own');
    const args = ['database', `--data-dir=${data}`, '--postgres-port=0'];
    const env = programEnvironment();
    const alone = new Run(spawn(process.execPath, [mainFile, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] }));
    await alone.says('The database answers at postgresql://');
    const url = (await readFile(join(data, 'database-url'), 'utf8')).trim();
    assert.equal(await answers(url), true);
    await alone.end('SIGTERM');
    assert.deepEqual([alone.child.exitCode, await answers(url)], [0, false]);
    await rm(data, { recursive: true });
  });

  it('is undone by a reset', async () => {
    const certs = await runProgram('certs', 'check', `--cert-dir=${join(config, 'pki')}`);
    assert.match(certs.stdout, /^apiserver +20\S+Z +36\dd +ca +no +CN=plinth$/m, certs.stderr);
    const renewed = await runProgram('certs', 'renew', 'admin', `--cert-dir=${join(config, 'pki')}`);
    assert.match(renewed.stdout, /^admin: renewed\n.*admin\.kubeconfig: renewed$/m);
    const removed = await runProgram('reset', '--force', `--config-dir=${config}`);
    assert.match(removed.stdout, /All of it is removed/, removed.stderr);
    assert.deepEqual(await readdir(folder, { recursive: true }), []);
  });
});
