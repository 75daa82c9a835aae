// Builds the file system of the image by the steps of the Dockerfile, without a container engine, and runs the image as
// an engine would: in its own namespaces, as an unprivileged user, on a read-only file system. Needs Linux, root (or
// user namespaces), kubectl and a PostgreSQL at PLINTH_DATABASE_URL, or the programs of PostgreSQL.
//
// The files of the base image are those of this machine: /usr, /bin, /lib and a Node.
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
// A folder on the file system of node_modules, whose files are hard-linked, not copied.
const place = mkdtempSync(join(root, 'dist', 'image-'));
chmodSync(place, 0o755);
const rows = [];

function note(what, value) {
  rows.push(`| ${what} | ${value} |`);
  console.log(`${what}: ${value}`);
}

function run(cwd, command, args, options = {}) {
  const { error, status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
    ...options,
  });
  if (status === 0) return stdout;
  throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? `${stdout}${stderr}`}`);
}

/** The instructions of the Dockerfile in order, by stage. */
function stages() {
  const text = readFileSync(join(root, 'Dockerfile'), 'utf8')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, ' ');
  const found = [];
  for (const line of text.split('\n').filter((one) => one.trim() !== '')) {
    const [, word, rest] = /^(\w+) (.*)$/.exec(line);
    if (word === 'FROM') found.push({ name: / AS (\w+)$/.exec(rest)?.[1], steps: [] });
    else found.at(-1).steps.push({ word, rest });
  }
  return found;
}

/**
 * Copies the files that an engine would receive: those that git does not ignore, without those that .dockerignore
 * leaves out.
 */
function context() {
  const ignored = readFileSync(join(root, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  const files = run(root, 'git', ['ls-files', '--cached', '--others', '--exclude-standard'])
    .split('\n')
    .filter((file) => file !== '');
  const matches = (file, pattern) => {
    const expression = pattern
      .replaceAll('.', '\\.')
      .replaceAll('**/', '(.*/)?')
      .replaceAll(/(?<!\.)\*/g, '[^/]*');
    return new RegExp(`^${expression}(/|$)`).test(file);
  };
  const folder = join(place, 'context');
  for (const file of files) {
    let isOut = false;
    for (const line of ignored) {
      if (line.startsWith('!') ? matches(file, line.slice(1)) : matches(file, line)) isOut = !line.startsWith('!');
    }
    if (isOut || !existsSync(join(root, file))) continue;
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(root, file), join(folder, file));
  }
  return folder;
}

/**
 * Follows the steps of a stage. `inside` runs a command: those of the build stage with the programs of this machine,
 * those of the last stage in the file system itself.
 */
function follow({ name, steps }, base, sources, inside) {
  const image = { folder: base, env: {}, workdir: '/', user: undefined };
  const at = (path) => join(base, path.startsWith('/') ? path : join(image.workdir, path));
  for (const { word, rest } of steps) {
    switch (word) {
      case 'WORKDIR':
        image.workdir = rest;
        mkdirSync(at(rest), { recursive: true });
        break;
      case 'ENV':
        for (const [, key, value] of rest.matchAll(/(\w+)=(\S+)/g)) image.env[key] = value;
        break;
      case 'COPY': {
        const words = rest.split(' ');
        const from = words[0].startsWith('--from=') ? sources.get(words.shift().slice(7)) : sources.get('context');
        const to = words.pop();
        for (const path of words) {
          const source = join(from, path);
          const isFolder = statSync(source).isDirectory();
          cpSync(source, isFolder ? at(to) : join(at(to), path.split('/').at(-1)), { recursive: true });
        }
        break;
      }
      case 'RUN':
        console.log(`${name ?? 'image'}: ${rest}`);
        inside(image, rest);
        break;
      case 'USER':
        image.user = rest;
        break;
      case 'HEALTHCHECK':
        image.healthcheck = JSON.parse(rest.slice(rest.indexOf('CMD ') + 4));
        break;
      case 'ENTRYPOINT':
        image.entrypoint = JSON.parse(rest);
        break;
      case 'CMD':
        image.command = JSON.parse(rest);
        break;
      default:
        if (word !== 'EXPOSE') throw new Error(`the step ${word} is not known`);
    }
  }
  return image;
}

/**
 * Runs a command of the build stage, which has no root of its own: absolute paths are moved below a folder, and the
 * tools are those of this machine.
 */
function buildInPlace(image, command) {
  const moved = command
    .replaceAll(/(?<=^|\s)\/(tmp|out)\b/g, `${image.folder}/$1`)
    .replaceAll('npm ci --ignore-scripts', `cp -al ${join(root, 'node_modules')} node_modules`);
  mkdirSync(join(image.folder, 'tmp'), { recursive: true });
  run(join(image.folder, image.workdir), 'sh', ['-c', moved], { env: { ...process.env, ...image.env } });
}

const system = ['usr', 'bin', 'lib', 'lib64', 'sbin', 'etc/ssl', 'etc/passwd', 'etc/group', 'etc/nsswitch.conf'];

/** A script that enters the file system and runs the arguments after it there. */
function enter(folder, { readOnly, user, volume }) {
  const lines = ['set -e', `mount --bind '${folder}' '${folder}'`];
  for (const name of system.filter((one) => existsSync(join('/', one)))) {
    lines.push(
      statSync(join('/', name)).isDirectory()
        ? `mkdir -p '${folder}/${name}'`
        : `mkdir -p '${folder}/etc'; touch '${folder}/${name}'`,
      `mount --rbind '/${name}' '${folder}/${name}'`,
      `mount -o remount,bind,ro '${folder}/${name}'`,
    );
  }
  lines.push(
    `mkdir -p '${folder}/proc' '${folder}/dev' '${folder}/opt/node'`,
    `touch '${folder}/opt/node/node'; mount --bind '${process.execPath}' '${folder}/opt/node/node'`,
    `touch '${folder}/dev/null' '${folder}/dev/urandom'`,
    `mount --bind /dev/null '${folder}/dev/null'; mount --bind /dev/urandom '${folder}/dev/urandom'`,
    `mount -t proc proc '${folder}/proc'`,
  );
  if (volume !== undefined) lines.push(`mount --bind '${volume}' '${folder}/var/lib/plinth/pki'`);
  if (readOnly) lines.push(`mount -o remount,bind,ro '${folder}'`);
  const [uid, gid] = (user ?? '0:0').split(':');
  const drop =
    uid === '0'
      ? ''
      : `setpriv --reuid=${uid} --regid=${gid} --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs`;
  lines.push(`exec chroot '${folder}' ${uid === '0' ? '' : '/usr/bin/'}${drop} "$@"`);
  return ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', lines.join('\n'), 'sh'];
}

function runInside(image, command) {
  run('/', 'unshare', [...enter(image.folder, { readOnly: false }), 'sh', '-c', `cd ${image.workdir} && ${command}`]);
}

function bytesIn(path) {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

async function main() {
  const { startTestPostgres } = await import('../dist/test/support/test-postgres.js');
  const begun = performance.now();
  const sources = new Map([['context', context()]]);
  const [build, last] = stages();
  const built = follow(build, join(place, 'build'), sources, buildInPlace);
  sources.set(build.name, built.folder);
  const image = follow(last, join(place, 'image'), sources, runInside);
  note('building the file system, without npm ci', `${((performance.now() - begun) / 1000).toFixed(1)} s`);
  note('of Plinth in the image', `${(bytesIn(join(image.folder, 'app')) / 1e6).toFixed(1)} MB`);
  const sbom = JSON.parse(readFileSync(join(image.folder, 'app/dist/sbom.cdx.json'), 'utf8'));
  note('packages in its bill of materials', `${sbom.bomFormat} ${sbom.specVersion}, ${sbom.components.length}`);
  const volume = join(place, 'volume');
  mkdirSync(volume);
  run('/', 'chown', [image.user, volume]);
  const postgres = await startTestPostgres();
  const port = await freePort();
  const env = {
    ...image.env,
    PATH: '/opt/node:/usr/sbin:/usr/bin:/sbin:/bin',
    PLINTH_DATABASE_URL: postgres.adminUrl,
    PLINTH_SECURE_PORT: `${port}`,
  };
  const inside = (...words) => [
    'unshare',
    [...enter(image.folder, { readOnly: true, user: image.user, volume }), ...words],
  ];
  try {
    const probe =
      "id -u; touch /app/x 2>&1 || echo denied; touch /var/lib/plinth/pki/x && echo volume; cat /proc/self/status | grep -E 'CapEff|NoNewPrivs'";
    const said = run('/', ...inside('/bin/sh', '-c', probe), { env });
    if (!/^1000\n.*denied\nvolume\n.*NoNewPrivs:\s+1/s.test(said) || !/CapEff:\s+0+$/m.test(said))
      throw new Error(`the user may too much: ${said}`);
    run('/', ...inside(...image.entrypoint, 'migrate'), { env });
    const started = performance.now();
    const [command, args] = inside(...image.entrypoint, ...image.command);
    const child = spawn(command, args, { cwd: '/', env, stdio: ['ignore', 'inherit', 'inherit'] });
    const ended = new Promise((done) => child.once('exit', (code) => done(code)));
    try {
      const pid = await healthy(image, child, env, ended);
      note('serve, until its health check passes', `${((performance.now() - started) / 1000).toFixed(1)} s`);
      process.kill(pid, 'SIGTERM');
      const code = await ended;
      if (code !== 0) throw new Error(`serve ended with ${code}`);
      note('serve stops on SIGTERM with', code);
    } finally {
      if (child.exitCode === null) child.kill('SIGKILL');
    }
    if (run('/', 'find', [volume, '-name', 'apiserver.crt']) === '') throw new Error('no certificate in the volume');
  } finally {
    await postgres.stop();
  }
}

/**
 * Waits until the image is healthy. The health check runs in the same namespaces, as an engine runs it, and fails until
 * the program serves.
 */
async function healthy(image, child, env, ended) {
  const late = performance.now() + 60_000;
  for (;;) {
    const pid = Number(spawnSync('pgrep', ['--parent', `${child.pid}`], { encoding: 'utf8' }).stdout);
    const words = [
      '--target',
      `${pid}`,
      '--mount',
      '--pid',
      '--root',
      '--setuid=1000',
      '--setgid=1000',
      ...image.healthcheck,
    ];
    const { status, stderr } =
      pid > 0 ? spawnSync('nsenter', words, { env, encoding: 'utf8' }) : { status: 1, stderr: '' };
    if (status === 0) return pid;
    const isOver = await Promise.race([ended.then(() => true), new Promise((done) => setTimeout(done, 100, false))]);
    if (isOver || performance.now() > late) throw new Error(`the image is not healthy: ${stderr}`);
  }
}

try {
  await main();
  writeFileSync(1, ['', '| | |', '| --- | --- |', ...rows, ''].join('\n'));
} catch (error) {
  console.error(`check-image: ${error.message}`);
  process.exitCode = 1;
} finally {
  rmSync(place, { recursive: true, force: true });
}
