import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { chmod, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { eventually } from '../../../test/e2e/support/test-cluster.js';
import { endWithUs } from '../../../test/support/child-guard.js';
import { mainFile } from '../../../test/support/main-file.js';
import { freePort } from '../../../test/support/ports.js';
import { programEnvironment } from '../../../test/support/program-environment.js';
import { AggregationOptions } from '../../base/config/aggregation.options.js';
import { AuthorizationOptions } from '../../base/config/authorization.options.js';
import { ControlLoopOptions } from '../../base/config/control-loop.options.js';
import { parseOptions } from '../../base/config/parse-options.js';
import { serverOptionGroups } from '../../base/config/server-options.js';
import { isAlive, readPostmasterPid } from '../local-postgres/embedded/postmaster.js';

interface Outcome {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

class Program {
  output = '';
  errors = '';
  readonly child: ChildProcess;

  constructor(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    this.child = spawn(process.execPath, [mainFile, ...args], {
      env: programEnvironment(environment),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    endWithUs(this.child);
    this.child.stdout?.on('data', (chunk: Buffer) => {
      this.output += chunk.toString();
    });
    this.child.stderr?.on('data', (chunk: Buffer) => {
      this.errors += chunk.toString();
    });
  }

  /** Waits until a string appears on standard output; fails when the program exits first. */
  async says(text: string): Promise<void> {
    const { stdout } = this.child;
    assert.ok(stdout);
    while (!this.output.includes(text)) {
      const ended = await Promise.race([
        once(stdout, 'data').then(() => false),
        once(this.child, 'close').then(() => true),
      ]);
      if (ended) assert.fail(`the program ended without saying ${JSON.stringify(text)}: ${this.errors}`);
    }
  }

  async end(): Promise<Outcome> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'close');
    return { code: this.child.exitCode, output: this.output, errors: this.errors };
  }
}

const run = (...args: string[]) => new Program(args).end();

describe('command line', () => {
  it('takes no offence at readers that leave', async () => {
    for (const args of [['--help'], ['serve', '--help'], ['completion', 'bash']]) {
      const program = new Program(args);
      program.child.stdout?.destroy();
      const { code, errors } = await program.end();
      assert.deepEqual([code, errors], [0, ''], args.join(' '));
    }
  });

  it('fails when its output does not fit on the disk', { skip: process.platform !== 'linux' }, () => {
    const full = openSync('/dev/full', 'w');
    try {
      const outcome = spawnSync(process.execPath, [mainFile, 'completion', 'bash'], {
        stdio: ['ignore', full, 'pipe'],
        encoding: 'utf8',
      });
      assert.deepEqual(
        [outcome.status, outcome.stderr],
        [1, "plinth: the output can't be written: the disk is full\n"],
      );
    } finally {
      closeSync(full);
    }
  });

  it('names missing files by their flags, before it does anything', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'plinth-files-'));
    try {
      const absent = join(folder, 'absent.pem');
      const flags = [`--data-dir=${join(folder, 'data')}`, `--client-ca-file=${absent}`, `--token-auth-file=${folder}`];
      const { code, errors } = await run('dev', ...flags);
      const expected = `--client-ca-file ${absent}: there is no such file; --token-auth-file ${folder}: it is a folder: name a file`;
      assert.deepEqual([code, errors], [1, `plinth: ${expected}\n`]);
      assert.deepEqual(await readdir(folder), []);
      const database = '--database-url=postgresql://127.0.0.1:1/plinth';
      assert.match((await run('serve', database, `--client-ca-file=${absent}`)).errors, /^plinth: --client-ca-file /);
      assert.match((await run('controllers', database, `--root-ca-file=${absent}`)).errors, /^plinth: --root-ca-file /);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('guesses which subcommand was meant', async () => {
    const { code, errors } = await run('controlers');
    assert.equal(code, 2);
    assert.match(errors, /^plinth: unknown subcommand "controlers"; did you mean controllers\?$/m);
  });

  it('says which commands have a flag that the given one does not', async () => {
    const { code, errors } = await run('migrate', '--event-ttl=1h', '--lease-reuse-duration-seconds=60');
    assert.equal(code, 2);
    assert.match(errors, /^plinth: unknown flag --event-ttl; it belongs to plinth .*controllers/m);
    assert.match(errors, /^plinth: unknown flag --lease-reuse-duration-seconds; it belongs to plinth .*controllers/m);
  });

  it('helps', async () => {
    const overview = await run('--help');
    assert.equal(overview.code, 0);
    for (const name of ['dev', 'serve', 'controllers', 'nodes', 'migrate', 'fence', 'pki', 'cluster-info', 'top']) {
      assert.match(overview.output, new RegExp(`^  ${name} `, 'm'));
      const help = await run(name, '--help');
      assert.equal(help.code, 0);
      assert.match(help.output, /\[PLINTH_[A-Z_]+\]/);
      for (const [, heading = ''] of help.output.matchAll(/^(.*) flags:$/gm)) assert.match(heading, /^[A-Z]/);
    }
    const { version } = JSON.parse(
      await readFile(join(mainFile, '..', '..', '..', 'package.json'), 'utf8').catch(() => '{}'),
    ) as {
      version?: string;
    };
    assert.match(
      (await run('--version')).output,
      version === undefined ? /^plinth / : new RegExp(`^plinth ${version}$`, 'm'),
    );
    assert.deepEqual(await run('serve', '--version'), await run('--version'));
    assert.match((await run('serve', '--version=raw')).errors, /^plinth: --version raw: must be true or false$/m);
  });

  it('makes certificates and a kubeconfig for servers elsewhere', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'plinth-certs-'));
    const flags = [
      '--cert-dir',
      directory,
      '--server=https://api.example.test:6443',
      '--tls-names=10.9.8.7,other.test',
    ];
    const { code, output } = await run('pki', ...flags);
    assert.equal(code, 0);
    assert.ok(output.includes(join(directory, 'admin.kubeconfig')));
    // The printed commands accept all their flags, and the files that they name exist.
    for (const [command, groups] of [
      ['serve', serverOptionGroups],
      [
        'controllers',
        { controllers: ControlLoopOptions, aggregation: AggregationOptions, authorization: AuthorizationOptions },
      ],
    ] as const) {
      const [, printed = ''] = new RegExp(` ${command} ([^]*?[^\\\\])\\n`).exec(output) ?? [];
      const argv = printed.split(/[\s\\]+/).filter((word) => word !== '');
      assert.ok(argv.length >= 8, output);
      parseOptions({ groups, argv, environment: {} });
      for (const file of argv.filter((word) => word.startsWith('/'))) assert.ok((await stat(file)).isFile(), file);
    }
    assert.equal(
      output.match(/--authorization-mode Node,RBAC\b/g)?.length,
      2,
      'neither the server nor the loops of such commands let everybody do everything',
    );
    const serving = new X509Certificate(await readFile(join(directory, 'apiserver.crt'), 'utf8'));
    for (const name of ['api.example.test', 'other.test']) assert.equal(serving.checkHost(name), name);
    assert.ok(serving.checkIP('10.9.8.7'));
    assert.match(
      await readFile(join(directory, 'admin.kubeconfig'), 'utf8'),
      /server: "https:\/\/api\.example\.test:6443"/,
    );
    assert.equal((await run('pki', '--server=ftp://x', '--tls-names=a b')).errors.split('plinth: ').length, 3);
    await rm(directory, { recursive: true });
  });

  it('ends with 2 for a wrong command line, one line per problem', async () => {
    const { code, errors, output } = await run('serve', '--secure-port=0', '--nope');
    assert.equal(code, 2);
    assert.equal(output, '');
    assert.equal(errors.split('\n').filter((line) => line.startsWith('plinth: ')).length, 2);
    assert.equal((await run()).code, 2);
    assert.equal((await run('fly')).code, 2);
  });

  it('needs a database to serve or migrate', async () => {
    for (const name of ['serve', 'migrate']) {
      const { code, errors } = await run(name);
      assert.equal(code, 2);
      assert.match(errors, /--database-url or PLINTH_DATABASE_URL/);
    }
  });

  it('reports a failure in one line, without a password', async () => {
    const { code, errors } = await run('migrate', '--database-url=postgresql://user:hunter2@127.0.0.1:1/plinth');
    assert.equal(code, 1);
    assert.match(errors, /^plinth: [^\n]*ECONNREFUSED[^\n]*\n$/);
    assert.doesNotMatch(errors, /hunter2/);
  });
});

describe('plinth dev', { skip: process.platform === 'win32' }, () => {
  let directory: string;
  let port: number;
  const flags = () => ['--data-dir', directory, '--secure-port', String(port)];

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'plinth-dev-'));
    if (process.getuid?.() === 0) await chmod(directory, 0o711);
    port = await freePort();
  });
  after(() => rm(directory, { recursive: true, force: true }));

  it('starts, serves its administrator, refuses a second start and stops in order', { timeout: 120_000 }, async () => {
    const program = new Program(['dev', ...flags()]);
    await program.says('get namespaces');
    const kubeconfig = join(directory, 'admin.kubeconfig');
    assert.ok(program.output.includes(kubeconfig));
    assert.equal((await stat(kubeconfig)).mode & 0o777, 0o600);
    assert.equal(await statusOf(await readFile(kubeconfig, 'utf8'), '/livez'), 200);

    const second = await run('dev', '--data-dir', directory, '--secure-port', String(await freePort()));
    assert.equal(second.code, 1);
    assert.match(second.errors, new RegExp(`pid ${program.child.pid}\\b`));
    const elsewhere = await mkdtemp(join(tmpdir(), 'plinth-dev-'));
    const third = await run('dev', '--data-dir', elsewhere, '--secure-port', String(port));
    assert.equal(third.code, 1);
    assert.match(third.errors, /already listens/);
    assert.deepEqual(await readdir(elsewhere), []);
    await rm(elsewhere, { recursive: true });
    assert.equal(await statusOf(await readFile(kubeconfig, 'utf8'), '/livez'), 200);

    const postmaster = await readPostmasterPid(join(directory, 'postgres'));
    program.child.kill('SIGINT');
    // npm forwards the signal of the terminal a second time.
    program.child.kill('SIGINT');
    assert.equal((await program.end()).code, 0, program.errors);
    assert.ok(postmaster !== undefined && !isAlive(postmaster));
    assert.equal((await readdir(directory)).includes('plinth.pid'), false);
  });

  it('starts again with its existing files', { timeout: 60_000 }, async () => {
    const kubeconfig = await readFile(join(directory, 'admin.kubeconfig'), 'utf8');
    const made = (await stat(join(directory, 'postgres', 'PG_VERSION'))).birthtimeMs;
    const program = new Program(['dev', ...flags()]);
    await program.says('get namespaces');
    assert.equal((await stat(join(directory, 'postgres', 'PG_VERSION'))).birthtimeMs, made);
    assert.equal(await readFile(join(directory, 'admin.kubeconfig'), 'utf8'), kubeconfig);
    program.child.kill('SIGTERM');
    assert.equal((await program.end()).code, 0);
  });

  it('serves its administrator when authorization is on', { timeout: 60_000 }, async () => {
    const kubeconfig = await readFile(join(directory, 'admin.kubeconfig'), 'utf8');
    const program = new Program(['dev', ...flags(), '--authorization-mode=Node,RBAC']);
    await program.says('get namespaces');
    assert.equal(await statusOf(kubeconfig, '/api/v1/secrets'), 200);
    // The control loops of the process make what every namespace has.
    for (const object of ['serviceaccounts/default', 'configmaps/control-root-ca.crt']) {
      const path = `/api/v1/namespaces/default/${object}`;
      await eventually(async () => (await statusOf(kubeconfig, path, 'DELETE')) === 200, `${object} can be deleted`);
      await eventually(async () => (await statusOf(kubeconfig, path)) === 200, `${object} is made again`);
    }
    program.child.kill('SIGTERM');
    assert.equal((await program.end()).code, 0);
  });
});

interface KubeconfigText {
  readonly clusters: readonly [{ cluster: { server: string; 'certificate-authority-data': string } }];
  readonly users: readonly [{ user: { 'client-certificate-data': string; 'client-key-data': string } }];
}

/** The response code to a request made only with the content of a kubeconfig. */
async function statusOf(kubeconfig: string, path: string, method = 'GET'): Promise<number | undefined> {
  const config = parse(kubeconfig) as KubeconfigText;
  const { cluster } = config.clusters[0];
  const { user } = config.users[0];
  const decode = (text: string) => Buffer.from(text, 'base64');
  const sent = request(`${cluster.server}${path}`, {
    ca: decode(cluster['certificate-authority-data']),
    cert: decode(user['client-certificate-data']),
    key: decode(user['client-key-data']),
    agent: false,
    method,
  });
  sent.end();
  const [response] = (await once(sent, 'response')) as [import('node:http').IncomingMessage];
  response.resume();
  await once(response, 'end');
  return response.statusCode;
}
