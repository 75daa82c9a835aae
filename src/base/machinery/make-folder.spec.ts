import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, describe, it } from 'node:test';
import { makeFolder } from './make-folder.js';
import { StartupError } from './startup-error.js';

const folder = mkdtempSync(join(tmpdir(), 'plinth-folders-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const isRoot = process.getuid?.() === 0;
const isLinux = process.platform === 'linux';

function refusal(path: string): string {
  let message = '';
  assert.throws(
    () => makeFolder(path),
    (error) => {
      assert.ok(error instanceof StartupError, String(error));
      message = error.message;
      return true;
    },
  );
  return message;
}

describe('making a folder', () => {
  it('gives it the mode that others need to enter it, whatever the umask', () => {
    const before = process.umask(0o077);
    try {
      makeFolder(join(folder, 'shared', 'inner'), 0o755);
      makeFolder(join(folder, 'usual'));
    } finally {
      process.umask(before);
    }
    for (const name of ['shared', 'shared/inner']) assert.equal(statSync(join(folder, name)).mode & 0o777, 0o755, name);
    assert.equal(statSync(join(folder, 'usual')).mode & 0o777, 0o700);
  });

  it('makes all that lead to it, with the mode, and leaves those that are there', () => {
    const path = join(folder, 'a', 'b', 'c');
    assert.equal(makeFolder(path, 0o700), true);
    assert.equal(statSync(join(folder, 'a')).mode & 0o777, 0o700);
    assert.equal(statSync(path).mode & 0o777, 0o700);
    assert.equal(makeFolder(path, 0o755), false);
    assert.equal(statSync(path).mode & 0o777, 0o700);
    assert.equal(makeFolder(`${join(folder, 'a', '.', '..', 'd')}/`, 0o700), true);
    assert.ok(existsSync(join(folder, 'd')));
    symlinkSync('d', join(folder, 'to-d'));
    assert.equal(makeFolder(join(folder, 'to-d')), false);
    assert.equal(makeFolder(join(folder, 'to-d', 'e')), true);
    assert.equal(makeFolder(relative(process.cwd(), join(folder, 'f'))), true);
    assert.equal(makeFolder('/'), false);
  });

  it('says what is in the way, and what helps', () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    assert.equal(refusal(file), `${file} is a file, not a folder: name another folder, or remove it`);
    const below = join(file, 'x', 'y');
    assert.equal(refusal(below), `the folder ${below} can't be made: ${join(file, 'x')} is not a folder; name another`);
    const dangling = join(folder, 'dangling');
    symlinkSync('nowhere', dangling);
    const expected = `${dangling} is a link to nowhere, which is not there: name another folder, or remove it`;
    assert.equal(refusal(dangling), expected);
    assert.equal(refusal(join(dangling, 'x')), expected);
    const circle = join(folder, 'circle');
    symlinkSync('circle', circle);
    assert.match(refusal(join(circle, 'x')), /its links lead in a circle/);
    for (const long of ['a'.repeat(300), 'a/'.repeat(4000)]) {
      assert.match(refusal(join(folder, long)), /the path is too long: name a shorter one$/);
    }
  });

  it('says so where nothing can be made', { skip: !isLinux }, () => {
    assert.equal(refusal('/proc/x'), "the folder /proc/x can't be made: /proc takes none; name another");
    assert.equal(refusal('/proc/x/y'), "the folder /proc/x can't be made: /proc takes none; name another");
  });

  it('says so where one may not write', { skip: isRoot && 'root may write everywhere' }, () => {
    const closed = join(folder, 'closed');
    makeFolder(closed, 0o700);
    chmodSync(closed, 0o500);
    const path = join(closed, 'x');
    const why = `you may not write in ${closed}; change its rights, or name another`;
    assert.equal(refusal(path), `the folder ${path} can't be made: ${why}`);
  });
});
