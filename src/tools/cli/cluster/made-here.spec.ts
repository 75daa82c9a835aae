import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { OwnFiles } from '../own-files.js';
import { MadeHere } from './made-here.js';

describe('what was made on a machine', () => {
  let root: string;
  let place: string;
  let outside: string;
  let made: MadeHere;

  before(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), 'plinth-made-')));
  });
  after(() => rm(root, { recursive: true, force: true }));
  beforeEach(async () => {
    place = await mkdtemp(join(root, 'case-'));
    outside = join(place, 'outside');
    await mkdir(outside);
    await writeFile(join(outside, 'kept'), 'kept');
    made = await MadeHere.open(join(place, 'config'));
  });

  const inside = (name: string) => join(made.directory, name);
  const removeAll = async () => {
    const left = await made.remove();
    await made.removeFolders(left.length > 0);
    return left;
  };

  it('leaves no record in a folder that has files of others', async () => {
    await made.files.write(inside('a'), 'a', 0o600);
    await writeFile(inside('notes'), 'mine');
    assert.deepEqual(await removeAll(), []);
    assert.deepEqual(await readdir(made.directory), ['notes']);
  });

  it('is removed whole, with what a killed process left', async () => {
    const folder = await made.folder(inside('node'));
    await made.files.write(join(folder, 'a'), 'a', 0o600);
    for (const name of ['a', 'plinth.pid']) await writeFile(join(folder, `${name}.0123456789ab`), 'half');
    for (const name of ['.made-here.json', '.made-files.json', 'plinth.pid']) {
      await writeFile(inside(`${name}.0123456789ab`), 'half');
    }
    await made.note('certificateFolders', inside('pki'));
    await made.folder(inside('pki'));
    await new OwnFiles(inside('pki')).write('ca.key', 'k', 0o600);
    await made.tree(inside('data'));
    await mkdir(join(inside('data'), 'deep'), { recursive: true });
    await made.files.write(inside('never-written'), 'x', 0o600);
    await rm(inside('never-written'));
    assert.deepEqual(await removeAll(), []);
    assert.equal(existsSync(made.directory), false);
  });

  it('is only that: files and folders of others stay', async () => {
    await made.files.write(inside('a'), 'a', 0o600);
    await writeFile(inside('other'), 'x');
    assert.deepEqual(await removeAll(), []);
    assert.deepEqual([existsSync(inside('a')), existsSync(inside('other'))], [false, true]);
    await made.tree(outside);
    assert.equal(await made.folder(outside), outside);
    await removeAll();
    assert.ok(existsSync(join(outside, 'kept')));
  });

  it('stays where somebody changed it, and can be removed later', async () => {
    await made.files.write(inside('a'), 'a', 0o600);
    await writeFile(inside('a'), 'b');
    assert.deepEqual(await removeAll(), [`${inside('a')}: somebody changed it`]);
    assert.ok(existsSync(inside('a')));
    await rm(inside('a'));
    assert.deepEqual(await removeAll(), []);
    assert.equal(existsSync(made.directory), false);
  });

  it('is not looked for behind links', async () => {
    const folder = await made.folder(inside('node'));
    await made.files.write(join(folder, 'kept'), 'kept', 0o600);
    await made.files.write(inside('link'), 'kept', 0o600);
    await made.tree(inside('data'));
    await rename(folder, `${folder}-moved`);
    await symlink(outside, folder);
    await rm(inside('link'));
    await symlink(join(outside, 'kept'), inside('link'));
    await symlink(outside, inside('data'));
    assert.deepEqual((await removeAll()).toSorted(), [
      `${inside('data')}: its folder is a link`,
      `${inside('link')}: it is not a file any more`,
      `${join(folder, 'kept')}: its folder is a link`,
    ]);
    assert.ok(existsSync(join(outside, 'kept')));
  });

  it('is known after every step', async () => {
    await made.note('units', 'x.service');
    await made.files.write(inside('a'), 'a', 0o600);
    const again = await MadeHere.openPresent(join(place, 'config'));
    assert.deepEqual(await again?.list(), ['x.service', inside('a')]);
    assert.equal(await MadeHere.openPresent(join(place, 'nowhere')), undefined);
  });
});
