import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../bin/plinth.js', import.meta.url));
const isWindowsOrMac = process.platform === 'win32' || process.platform === 'darwin';

let place: string;

before(() => {
  place = mkdtempSync(join(tmpdir(), 'plinth-compiled-'));
});

after(() => {
  rmSync(place, { recursive: true, force: true });
});

/** Runs the program as a user whose files are below `home`; returns whether Node had its compiled code from before. */
function hadCode(home: string, settings: NodeJS.ProcessEnv = {}): boolean {
  const { NODE_COMPILE_CACHE: _shared, XDG_CACHE_HOME: _own, ...rest } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, '--version'], {
    encoding: 'utf8',
    env: { ...rest, HOME: home, NODE_DEBUG_NATIVE: 'COMPILE_CACHE', ...settings },
  });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^plinth \d/m);
  return /\bmain\.js\b.* was accepted/.test(stdout + stderr);
}

function homeFolder(name: string): string {
  const home = join(place, name);
  mkdirSync(home);
  return home;
}

test('compiled code is kept in a private folder, for a few builds', { skip: isWindowsOrMac }, () => {
  const home = homeFolder('kept');
  assert.equal(hadCode(home), false);
  const parent = join(home, '.cache', 'plinth-compiled');
  assert.equal(statSync(parent).mode & 0o777, 0o700);
  assert.equal(readdirSync(parent).length, 1);
  const [build] = readdirSync(parent);
  assert.ok(hadCode(home));
  // Files that others left are removed with the next one, the oldest first.
  rmSync(join(parent, build as string), { recursive: true });
  for (const age of [1, 2, 3, 4, 5]) {
    const other = join(parent, `${age}`);
    mkdirSync(other);
    utimesSync(other, 1e9 - age, 1e9 - age);
  }
  assert.equal(hadCode(home), false);
  assert.deepEqual(readdirSync(parent).toSorted(), ['1', '2', '3', build].toSorted());
});

/** The file of kept code of the program's own file, which Node does not know of. */
function programCode(folder: string): string {
  const [build] = readdirSync(folder);
  const files = readdirSync(join(folder, build as string), { recursive: true, encoding: 'utf8' });
  const code = files.filter((name) => name.endsWith('.plinth-code'));
  assert.equal(code.length, 1, files.join());
  return join(folder, build as string, code[0] as string);
}

test('code that was damaged is written anew, and good code stays', { skip: isWindowsOrMac }, () => {
  const home = homeFolder('damaged');
  hadCode(home);
  const path = programCode(join(home, '.cache', 'plinth-compiled'));
  const good = readFileSync(path);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const { ino } = statSync(path);
  hadCode(home);
  assert.equal(statSync(path).ino, ino, 'the code was used and not written again');
  const damaged = [good.subarray(0, good.length / 2), Buffer.alloc(3), Buffer.from(good).fill(7, good.length / 2)];
  for (const bytes of damaged) {
    writeFileSync(path, bytes);
    hadCode(home);
    assert.notDeepEqual(readFileSync(path), bytes);
    assert.ok(readFileSync(path).length > good.length / 2);
  }
});

test('nothing is kept where others write, and nothing is read there', { skip: isWindowsOrMac }, () => {
  const home = homeFolder('shared');
  hadCode(home);
  const parent = join(home, '.cache', 'plinth-compiled');
  assert.ok(hadCode(home));
  for (const [path, mode] of [
    [parent, 0o770],
    [join(home, '.cache'), 0o777],
    [join(parent, readdirSync(parent)[0] as string), 0o707],
  ] as const) {
    const before = statSync(path).mode;
    chmodSync(path, mode);
    assert.equal(hadCode(home), false, path);
    chmodSync(path, before);
  }
  assert.ok(hadCode(home));
});

test('a home that cannot be written to keeps nothing, and the program runs', { skip: isWindowsOrMac }, () => {
  const file = join(place, 'no-folder');
  writeFileSync(file, '');
  for (const home of [file, '/proc/self/nothing']) assert.equal(hadCode(home), false);
});

test('nothing is made in the home of another user', { skip: isWindowsOrMac || process.getuid?.() !== 0 }, () => {
  const home = homeFolder('foreign');
  chownSync(home, 12_345, 12_345);
  assert.equal(hadCode(home), false);
  assert.deepEqual(readdirSync(home), []);
  mkdirSync(join(home, '.cache'));
  chownSync(join(home, '.cache'), 12_345, 12_345);
  assert.equal(hadCode(home), false);
  assert.deepEqual(readdirSync(join(home, '.cache')), []);
});

test('settings of Node come first', { skip: isWindowsOrMac }, () => {
  const home = homeFolder('settings');
  const own = join(place, 'own');
  hadCode(home, { NODE_COMPILE_CACHE: own });
  assert.ok(hadCode(home, { NODE_COMPILE_CACHE: own }));
  hadCode(home, { NODE_DISABLE_COMPILE_CACHE: '1' });
  assert.deepEqual(readdirSync(home), []);
});
