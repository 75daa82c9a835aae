// Sets up a control plane by `plinth init` on a machine with systemd, and kills that command at random moments: the same command must
// then complete, and `plinth reset` must remove everything that they made, and only that. As root, where Debian's systemd is installed:
// `npm run check:systemd`. PLINTH_KILLS is the number of kills, PLINTH_SEED decides about their times.
import assert from 'node:assert/strict';
import { lstat } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from '../e2e/support/test-cluster.js';
import { changesFolder, SystemdMachine } from './systemd-machine.js';

const kills = Number(process.env.PLINTH_KILLS ?? 20);
const seed = Number(process.env.PLINTH_SEED ?? Date.now() % 100_000);
const repository = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');
const program = [process.execPath, `${repository}/bin/plinth.js`];
const init = [...program, 'init', '--apiserver-advertise-address=127.0.0.1'];
/** How long anything may take, on a machine that is very busy with other work. */
const patienceMs = 300_000;
const units = ['plinth-database', 'plinth-serve', 'plinth-controllers'];

/** A sequence of numbers from 0 to 1 that the seed decides. */
function* numbersOf(start: number): Generator<number, never> {
  let state = start;
  for (;;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

describe(`plinth init with systemd (PLINTH_SEED=${seed})`, { timeout: 4 * 3_600_000 }, () => {
  let machine: SystemdMachine;
  let wholeMs = 0;
  let untouched: readonly string[] = [];

  /**
   * The files and folders that the machine has made, changed or removed where programs keep theirs, with their kinds
   * and modes, and the content of what others have made. A folder that the host also has is included if its content
   * changed.
   */
  async function changedFiles(): Promise<readonly string[]> {
    const hidden = ['/root/.*', '/root/go', '/var/lib/systemd', '/var/lib/plinth'].map((path) => `-path '.${path}'`);
    const found = await machine.run(
      'sh',
      '-c',
      `cd ${changesFolder} && find ./etc ./opt ./srv ./var/lib ./root -maxdepth 4 \\( ${hidden.join(' -o ')} \\) -prune -o -printf '%p %y %m\\n'; exit 0`,
    );
    const lines: string[] = [];
    for (const line of found.output.split('\n').filter((each) => each !== '')) {
      const [path = '', kind] = line.split(' ');
      if (kind !== 'd' || !(await isFolderHere(path.slice(1)))) lines.push(line);
    }
    const own = await machine.run(
      'sh',
      '-c',
      'find /var/lib/plinth 2>/dev/null; cat /etc/plinth/notes.txt /etc/systemd/system/other.service; exit 0',
    );
    return [...lines.sort(), own.output];
  }

  const isFolderHere = (path: string) =>
    lstat(path).then(
      (found) => found.isDirectory(),
      () => false,
    );

  before(async () => {
    machine = await SystemdMachine.start(repository);
    // What others have on such a machine.
    await machine.run(
      'sh',
      '-c',
      'mkdir -p /etc/plinth && echo mine > /etc/plinth/notes.txt && echo "[Unit]" > /etc/systemd/system/other.service',
    );
    untouched = await changedFiles();
  });

  after(() => machine?.stop());

  const isReady = async () => (await machine.run('curl', '-sk', 'https://127.0.0.1:6443/readyz')).output === 'ok';
  const certificates = async () => (await machine.run('sh', '-c', 'cd /etc/plinth/pki && sha256sum *')).output;
  const sumOf = (text: string, name: string) => text.split('\n').find((line) => line.endsWith(`  ${name}`));

  /** Starts the command, and kills it with its children after a time, if it has not ended before. */
  async function killedInit(atMs: number): Promise<void> {
    const child = machine.spawn(...init);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    await new Promise((resolve) => setTimeout(resolve, atMs));
    if (child.exitCode === null) process.kill(-(child.pid as number), 'SIGKILL');
    await ended;
    // The killed process belongs to systemd now, and is there until systemd has taken note of its end.
    const left = ['sh', '-c', "ps -eo stat,args | grep -c '^Z\\|[p]linth.js init'"] as const;
    await eventually(
      async () => (await machine.run(...left)).output.trim() === '0',
      'the end of the command',
      patienceMs,
    );
  }

  async function completes(): Promise<void> {
    const { code, output } = await machine.run(...init);
    assert.equal(code, 0, output);
    assert.match(output, /plinth join 127\.0\.0\.1:6443 --token/);
    assert.ok(await isReady(), 'the API');
    for (const unit of units) {
      const { output: state } = await machine.run('systemctl', 'is-enabled', `${unit}.service`);
      assert.equal(state.trim(), 'enabled', unit);
      assert.equal((await machine.run('systemctl', 'is-active', `${unit}.service`)).output.trim(), 'active', unit);
    }
    const tokens = await machine.run(...program, 'token', 'list');
    assert.equal(tokens.output.match(/Made by plinth init/g)?.length, 1, tokens.output);
  }

  async function resets(): Promise<void> {
    const { code, output } = await machine.run(...program, 'reset', '--force');
    assert.equal(code, 0, output);
    assert.deepEqual(await changedFiles(), untouched);
    const left = await machine.run('systemctl', 'list-units', '--all', '--plain', '--no-legend', 'plinth*');
    assert.equal(left.output.trim(), '', 'units');
    const running = await machine.run('sh', '-c', 'ps -eo args | grep -c "[p]linth.js\\|[p]ostgres:"; exit 0');
    assert.equal(running.output.trim(), '0', 'processes');
  }

  it('runs units that systemd has no complaint about, and starts again what was killed', async () => {
    const began = performance.now();
    await completes();
    wholeMs = performance.now() - began;
    const paths = units.map((unit) => `/etc/systemd/system/${unit}.service`);
    // Pages of the manual are not installed with a checkout.
    const verified = await machine.run('systemd-analyze', 'verify', '--man=no', ...paths);
    assert.deepEqual([verified.code, verified.output], [0, '']);
    for (const unit of units) {
      await machine.run('systemctl', 'kill', '--signal=KILL', `${unit}.service`);
      await eventually(
        async () => (await machine.run('systemctl', 'show', '-p', 'NRestarts', '--value', unit)).output.trim() !== '0',
        `the restart of ${unit}`,
        patienceMs,
      );
      await eventually(isReady, `the API after ${unit} was killed`, patienceMs);
    }
  });

  it('says what the database has logged when it does not start', async () => {
    await machine.run('sh', '-c', 'echo PLINTH_LOG_FORMAT=nonsense > /etc/plinth/more-database.env');
    await machine.run('systemctl', 'stop', 'plinth-database.service');
    await machine.run('rm', '/var/lib/plinth/database-url');
    const { code, output } = await machine.run(...init, '--timeout=10s');
    await machine.run('rm', '/etc/plinth/more-database.env');
    assert.equal(code, 1, output);
    assert.match(
      output,
      /the database does not answer .*which ends with: (.* \| )?plinth: PLINTH_LOG_FORMAT nonsense: must be one of text, json/,
    );
    await completes();
  });

  it('is started by the next boot', async () => {
    // Systemd refuses while a job that contradicts is queued, such as the restart of a unit.
    const isolate = (target: string) =>
      eventually(async () => (await machine.run('systemctl', 'isolate', target)).code === 0, target, patienceMs);
    await isolate('rescue.target');
    // The target is reached before everything that it does not need has stopped.
    await eventually(async () => !(await isReady()), 'the end of the API', patienceMs);
    await isolate('multi-user.target');
    await eventually(isReady, 'the API after the boot', patienceMs);
  });

  it('changes nothing when it is run twice, and leaves nothing', async () => {
    const first = await certificates();
    await completes();
    assert.equal(await certificates(), first);
    await resets();
  });

  const numbers = numbersOf(seed);
  for (let kill = 1; kill <= kills; kill++) {
    it(`goes on after kill ${kill}`, async () => {
      const atMs = Math.round(numbers.next().value * wholeMs);
      await killedInit(atMs);
      const first = await certificates();
      const began = performance.now();
      await completes();
      const tookMs = Math.round(performance.now() - began);
      const phase = (await machine.run('ls', '/etc/plinth')).output.split('\n').length;
      console.log(
        `killed after ${atMs} ms, ${first.split('\n').length - 1} files of certificates; completed in ${tookMs} ms (${phase} files)`,
      );
      // Files that were complete before the kill are used again.
      const now = await certificates();
      for (const name of ['ca.crt', 'ca.key', 'service-account.key']) {
        if (sumOf(first, name) !== undefined) assert.equal(sumOf(now, name), sumOf(first, name), name);
      }
      await resets();
    });
  }

  it('is removed as a whole when it was killed and never completed', async () => {
    for (let kill = 0; kill < 5; kill++) {
      await killedInit(numbers.next().value * wholeMs);
      await resets();
    }
  });
});
