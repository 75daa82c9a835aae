import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
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

test('compiled code is kept in a private folder, for one build', { skip: isWindowsOrMac }, () => {
  const home = homeFolder('kept');
  assert.equal(hadCode(home), false);
  const parent = join(home, '.cache', 'plinth-compiled');
  assert.equal(statSync(parent).mode & 0o777, 0o700);
  assert.equal(readdirSync(parent).length, 1);
  const [build] = readdirSync(parent);
  assert.ok(hadCode(home));
  // What another build left goes away with the next one.
  rmSync(join(parent, build as string), { recursive: true });
  mkdirSync(join(parent, 'another'));
  assert.equal(hadCode(home), false);
  assert.deepEqual(readdirSync(parent), [build]);
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

test('settings of Node come first', { skip: isWindowsOrMac }, () => {
  const home = homeFolder('settings');
  const own = join(place, 'own');
  hadCode(home, { NODE_COMPILE_CACHE: own });
  assert.ok(hadCode(home, { NODE_COMPILE_CACHE: own }));
  hadCode(home, { NODE_DISABLE_COMPILE_CACHE: '1' });
  assert.deepEqual(readdirSync(home), []);
});
