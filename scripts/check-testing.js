// Runs the examples of tests as users would: with the packed package, in a separate folder whose path contains spaces,
// and with test runners from the registry (arguments choose examples by name, or `types`). Then runs many tests at once
// that crash or are killed.
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const place = mkdtempSync(join(tmpdir(), 'plinth testing-'));
const home = join(place, 'home');
const isRoot = process.getuid() === 0;
/** The users that run the tests: the current user, and if that is root, also an unprivileged user. */
const users = [{}, ...(isRoot ? [{ uid: 65534, gid: 65534 }] : [])];
const rows = [];

function environment(folder) {
  const path = process.env.PATH.split(':').filter((part) => !part.includes('node_modules'));
  const network = Object.entries(process.env).filter(([name]) =>
    /^(NODE_EXTRA_CA_CERTS|https?_proxy|no_proxy)$/i.test(name),
  );
  return { ...Object.fromEntries(network), HOME: home, TMPDIR: folder, PATH: [join(place, 'bin'), ...path].join(':') };
}

function check(holds, text) {
  if (!holds) throw new Error(text);
}

function mustRun(cwd, command, ...args) {
  const result = spawnSync(command, args, { cwd, env: environment(tmpdir()), encoding: 'utf8', timeout: 600_000 });
  check(result.status === 0, `${command} ${args.join(' ')}: ${result.error ?? `${result.stdout}${result.stderr}`}`);
  return result.stdout;
}

function note(what, value) {
  rows.push(`| ${what} | ${value} |`);
  console.log(`${what}: ${value}`);
}

/** A folder of temporary files for one user: tests with another folder use another PostgreSQL. */
function temporary(user) {
  const folder = mkdtempSync(join(place, 'tmp '));
  chmodSync(folder, 0o755);
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  return folder;
}

function begin(cwd, folder, user, ...args) {
  const child = spawn(join(place, 'bin', 'node'), args, {
    cwd,
    env: environment(folder),
    stdio: ['ignore', 'pipe', 'pipe'],
    ...user,
  });
  child.output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      child.output += chunk;
    });
  }
  child.ended = new Promise((done) => child.once('exit', (code, signal) => done({ code, signal })));
  return child;
}

/** Processes whose command line or environment names a folder of temporary files. */
function processesOf(folder) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        return (
          readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`TMPDIR=${folder}`) ||
          readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(folder)
        );
      } catch {
        return false;
      }
    });
}

async function nothingStays(folder, what) {
  const begun = performance.now();
  while (processesOf(folder).length > 0) {
    check(performance.now() - begun < 60_000, `${what}: processes stay: ${processesOf(folder).join()}`);
    await delay(50);
  }
  // Test runners leave files of their own.
  const left = readdirSync(folder).filter((name) => /^plinth-(?!postgres-|compiled-)/.test(name));
  check(left.length === 0, `${what}: files stay: ${left.join()}`);
  return performance.now() - begun;
}

function pack() {
  const into = join(place, 'pack');
  mkdirSync(into);
  const packed = spawnSync('npm', ['pack', '--silent', '--pack-destination', into], { cwd: root, encoding: 'utf8' });
  check(packed.status === 0, packed.stderr);
  return join(into, readdirSync(into)[0]);
}

function install(name, tarball) {
  const cwd = join(place, name);
  cpSync(join(root, 'examples', name), cwd, { recursive: true });
  const manifest = JSON.parse(readFileSync(join(cwd, 'package.json'), 'utf8'));
  manifest.devDependencies.plinth = `file:${tarball}`;
  writeFileSync(join(cwd, 'package.json'), JSON.stringify(manifest));
  mustRun(cwd, 'npm', 'install', '--no-audit', '--no-fund');
  return cwd;
}

async function runExample(cwd, name, user) {
  const folder = temporary(user);
  // Vitest writes files into the folder of the example.
  if (user.uid !== undefined) mustRun(cwd, 'chown', '-R', `${user.uid}:${user.gid}`, '.');
  const times = [];
  for (const round of ['first', 'second']) {
    const begun = performance.now();
    const result = spawnSync('npm', ['test'], {
      cwd,
      env: { ...environment(folder), npm_config_cache: join(folder, 'plinth-postgres-npm') },
      encoding: 'utf8',
      timeout: 300_000,
      ...user,
    });
    check(result.status === 0, `${name}, ${round} run: ${result.stdout}${result.stderr}`);
    times.push(((performance.now() - begun) / 1000).toFixed(1));
  }
  await nothingStays(folder, name);
  note(
    `${name} as ${user.uid === undefined ? 'whoever runs this' : 'nobody'}: first and second run`,
    `${times.join(' s, ')} s`,
  );
}

const typed = `
import { type ApiError, startCluster, type TestCluster } from 'plinth/testing';

export async function use(): Promise<string | undefined> {
  await using cluster: TestCluster = await startCluster({ nodes: 1, fixtures: ['a.yaml', { kind: 'x' }], flags: { v: 2 } });
  const list = await cluster.request<{ items: { metadata: { name: string } }[] }>('GET', '/api/v1/namespaces');
  await cluster.request('GET', '/x').catch(({ reason }: ApiError) => reason);
  await cluster.reset({ endWatches: true });
  const { kubeconfig }: { readonly kubeconfig: string } = await cluster.kubeconfigFor({ serviceAccount: 's' });
  // @ts-expect-error there is no such option
  await startCluster({ node: 1 });
  return list.items[0]?.metadata.name ?? kubeconfig;
}
`;

/** Compiles with the types of the library, in a project that has nothing but the package and a compiler. */
function compile(tarball) {
  const cwd = join(place, 'typed');
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'package.json'), '{"private":true,"type":"module"}');
  mustRun(cwd, 'npm', 'install', '--no-audit', '--no-fund', '--omit=optional', tarball, 'typescript@5.6');
  writeFileSync(join(cwd, 'use.mts'), typed);
  writeFileSync(join(cwd, 'use.cts'), typed);
  const compiler = join(cwd, 'node_modules', 'typescript', 'bin', 'tsc');
  for (const target of ['es2022', 'esnext']) {
    const flags = ['--strict', '--noEmit', '--module', 'nodenext', '--target', target, '--lib', target];
    mustRun(cwd, join(place, 'bin', 'node'), compiler, ...flags, 'use.mts', 'use.cts');
  }
  const bundled = ['--strict', '--noEmit', '--module', 'esnext', '--moduleResolution', 'bundler', '--target', 'es2022'];
  mustRun(cwd, join(place, 'bin', 'node'), compiler, ...bundled, 'use.mts');
  note('types', 'compiled by TypeScript 5.6, strict, without other packages');
}

const crashing = `
import { startCluster } from 'plinth/testing';
const cluster = await startCluster();
await cluster.request('GET', '/readyz');
console.log('READY', cluster.pid);
if (process.argv[2] === 'throw') throw new Error('a test that fails');
if (process.argv[2] === 'return') process.exitCode = 0;
else setInterval(() => {}, 1000);
`;

async function attack(cwd, user) {
  writeFileSync(join(cwd, 'crash.mjs'), crashing);
  const folder = temporary(user);
  const ready = async (child) => {
    while (!child.output.includes('READY')) {
      check(child.exitCode === null, child.output);
      await delay(10);
    }
  };
  const forgotten = begin(cwd, folder, user, 'crash.mjs', 'return');
  check((await forgotten.ended).code === 0, `without stop: ${forgotten.output}`);
  const failing = begin(cwd, folder, user, 'crash.mjs', 'throw');
  check((await failing.ended).code === 1, `with an error: ${failing.output}`);
  const eight = Array.from({ length: 8 }, () => begin(cwd, folder, user, 'crash.mjs', 'wait'));
  const begun = performance.now();
  await Promise.all(eight.map(ready));
  note('eight servers at once, until all are ready', `${((performance.now() - begun) / 1000).toFixed(1)} s`);
  for (const child of eight) child.kill('SIGKILL');
  await Promise.all(eight.map((child) => child.ended));
  const ms = await nothingStays(folder, 'eight that were killed');
  note('from kill -9 of all eight until nothing runs any more', `${(ms / 1000).toFixed(1)} s`);
}

try {
  chmodSync(place, 0o755);
  mkdirSync(join(place, 'bin'));
  cpSync(process.execPath, join(place, 'bin', 'node'));
  mkdirSync(home, { mode: 0o555 });
  const tarball = pack();
  const chosen = process.argv.slice(2);
  if (chosen.length === 0 || chosen.includes('types')) compile(tarball);
  const all = ['testing-node', 'testing-vitest', 'testing-jest'];
  for (const name of chosen.length > 0 ? all.filter((one) => chosen.includes(one)) : all) {
    const cwd = install(name, tarball);
    // The home folder is read-only for every user.
    for (const user of users) await runExample(cwd, name, user);
    if (name === 'testing-node') for (const user of users) await attack(cwd, user);
  }
  console.log(['', '| | |', '| --- | --- |', ...rows].join('\n'));
} catch (error) {
  console.error(`check-testing: ${error.message}`);
  process.exitCode = 1;
} finally {
  rmSync(place, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
}
