import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { promises as fs } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { nestFolders } from '../../../../test/support/nest-folders.js';
import { rotateLog } from '../housekeeping/log-rotation.js';
import { removeTree } from '../remove-tree.js';
import { writeAtomically } from './atomic-writer.js';
import { openFileInside, openInside, safeParts } from './inside.js';
import { PathEscape } from './path-escape.js';
import { giveToGroup } from './volume-group.js';

describe('paths of volumes', { skip: process.platform !== 'linux' && 'paths of open files are those of Linux' }, () => {
  let folder: string;
  let volume: string;
  before(async () => {
    folder = await fs.mkdtemp(join(tmpdir(), 'inside-'));
    volume = join(folder, 'volume');
    await fs.mkdir(join(volume, 'a', 'b'), { recursive: true });
    await fs.mkdir(join(folder, 'outside'));
    await fs.writeFile(join(folder, 'outside', 'secret'), 'secret');
    await fs.writeFile(join(volume, 'a', 'file'), 'content');
    await fs.symlink('../outside', join(volume, 'out'));
    await fs.symlink('/etc', join(volume, 'etc'));
    await fs.symlink('a/b', join(volume, 'inner'));
  });
  after(() => fs.rm(folder, { recursive: true, force: true }));

  it('are refused when they are absolute or go up', () => {
    for (const path of ['/etc', '../x', 'a/../../x', 'a\0b']) assert.throws(() => safeParts(path), PathEscape, path);
    assert.deepEqual(safeParts('./a//b/'), ['a', 'b']);
  });

  it('do not lead out by links, whether what they name is there or not', async () => {
    for (const path of ['out', 'out/secret', 'etc/passwd', 'out/new/folder']) {
      await assert.rejects(openInside(volume, path, { mode: 0o750 }), PathEscape, path);
    }
    await assert.rejects(fs.stat(join(folder, 'outside', 'new')));
  });

  it('follow links that stay inside, and reach what was opened even if the path is exchanged', async () => {
    await using inner = await openInside(volume, 'inner');
    assert.equal(inner.isFolder, true);
    await using file = await openInside(volume, 'a/file');
    assert.equal(file.isFolder, false);
    await fs.rename(join(volume, 'a', 'file'), join(volume, 'a', 'moved'));
    await fs.symlink('/etc/passwd', join(volume, 'a', 'file'));
    assert.equal(await fs.readFile(file.path, 'utf8'), 'content');
  });

  it('are given to a group as a whole, and nothing outside is', async (context) => {
    if (process.getuid?.() !== 0) return context.skip('only root gives files to groups');
    const given = join(folder, 'given');
    await fs.mkdir(join(given, 'a', 'b'), { recursive: true });
    await fs.writeFile(join(given, 'a', 'b', 'file'), 'x', { mode: 0o600 });
    await fs.symlink('../outside', join(given, 'out'));
    await fs.symlink('../../outside/secret', join(given, 'a', 'file'));
    await giveToGroup(given, 3000, true);
    const shown = async (path: string) => {
      const { gid, mode } = await fs.lstat(path);
      return `${gid} ${(mode & 0o7777).toString(8)}`;
    };
    assert.equal(await shown(given), '3000 2775');
    assert.equal(await shown(join(given, 'a', 'b')), '3000 2775');
    assert.equal(await shown(join(given, 'a', 'b', 'file')), '3000 660');
    assert.equal((await fs.lstat(join(given, 'out'))).gid, 3000);
    assert.equal((await fs.stat(join(folder, 'outside', 'secret'))).gid, 0);
    await fs.chown(join(given, 'a', 'b', 'file'), 0, 5);
    await giveToGroup(given, 3000, true);
    assert.equal((await fs.stat(join(given, 'a', 'b', 'file'))).gid, 5, "the folder is the group's already");
    await giveToGroup(given, 3000, false);
    assert.equal((await fs.stat(join(given, 'a', 'b', 'file'))).gid, 3000);
  });

  it('are given to a group though somebody has nested folders deeper than paths can be', async (context) => {
    if (process.getuid?.() !== 0) return context.skip('only root gives files to groups');
    const nested = join(folder, 'nested');
    await fs.mkdir(nested);
    await fs.writeFile(join(nested, 'file'), '');
    nestFolders(nested);
    await giveToGroup(nested, 3000, false);
    assert.equal((await fs.stat(join(nested, 'file'))).gid, 3000);
    await removeTree(nested);
  });

  it('are read as files, each time', async () => {
    await fs.writeFile(join(volume, 'many'), 'content');
    // The folder must stay open until the file is closed; whether a fault shows depends on chance.
    for (let i = 0; i < 500; i++) {
      const handle = await openFileInside(volume, 'many');
      assert.equal(await handle.readFile('utf8'), 'content');
      await handle.close();
    }
    await assert.rejects(openFileInside(volume, 'out/secret'), PathEscape);
    await assert.rejects(openFileInside(volume, 'a'), PathEscape);
  });

  it('are made when they are missing, with the wanted mode', async () => {
    await using made = await openInside(volume, 'x/y', { mode: 0o750 });
    assert.equal(made.isFolder, true);
    assert.equal((await fs.stat(join(volume, 'x', 'y'))).mode & 0o777, 0o750);
  });

  it('of sockets and pipes are reached without opening them, and are no files to read', {
    timeout: 120_000,
  }, async () => {
    execFileSync('mkfifo', [join(volume, 'pipe')]);
    const server = createServer().listen(join(volume, 'socket'));
    await once(server, 'listening');
    try {
      for (const name of ['pipe', 'socket']) {
        await using place = await openInside(volume, name, { mode: 0o750 });
        assert.equal(place.isFolder, false);
        assert.equal((await fs.stat(place.path)).ino, (await fs.stat(join(volume, name))).ino);
        await assert.rejects(openFileInside(volume, name), PathEscape, name);
      }
      await assert.rejects(openInside(volume, 'pipe/x'));
    } finally {
      server.close();
    }
  });
});

describe('writeAtomically', () => {
  let folder: string;
  before(async () => {
    folder = await fs.mkdtemp(join(tmpdir(), 'atomic-'));
  });
  after(() => fs.rm(folder, { recursive: true, force: true }));
  const file = (text: string) => ({ content: Buffer.from(text), mode: 0o644 });

  it('writes files behind one link, and nothing when nothing has changed', async () => {
    const files = new Map([
      ['a', file('1')],
      ['b/c', file('2')],
    ]);
    assert.equal(await writeAtomically(folder, files, undefined), true);
    const before = await fs.readlink(join(folder, '..data'));
    assert.equal(await fs.readFile(join(folder, 'b', 'c'), 'utf8'), '2');
    assert.equal(await writeAtomically(folder, files, undefined), false);
    assert.equal(await fs.readlink(join(folder, '..data')), before);
  });

  it('exchanges all at once and removes what is gone', async () => {
    assert.equal(await writeAtomically(folder, new Map([['a', file('3')]]), undefined), true);
    assert.equal(await fs.readFile(join(folder, 'a'), 'utf8'), '3');
    const names = (await fs.readdir(folder)).sort();
    assert.deepEqual(
      names.filter((name) => !name.startsWith('..')),
      ['a'],
    );
    assert.equal(names.filter((name) => /^\.\.\d/.test(name)).length, 1);
  });

  it('makes what is missing when the process before was killed, and removes what that has left', async () => {
    const files = new Map([
      ['a', file('4')],
      ['d/e', file('5')],
    ]);
    await writeAtomically(folder, files, undefined);
    // Killed after it had exchanged the files, and before it had made the links of all of them.
    await fs.rm(join(folder, 'd'));
    await fs.mkdir(join(folder, '..2026_01_01_00_00_00.1', 'd'), { recursive: true });
    assert.equal(await writeAtomically(folder, files, undefined), false);
    assert.equal(await fs.readFile(join(folder, 'd', 'e'), 'utf8'), '5');
    assert.deepEqual((await fs.readdir(folder)).filter((name) => /^\.\.\d/.test(name)).length, 1);
  });

  it('looks through the files a few times, however many there are', async () => {
    let visits = 0;
    class Counted extends Map<string, ReturnType<typeof file>> {
      override *entries(): MapIterator<[string, ReturnType<typeof file>]> {
        for (const entry of super.entries()) {
          visits++;
          yield entry;
        }
      }
      override [Symbol.iterator]() {
        return this.entries();
      }
    }
    const count = 100;
    const files = new Counted();
    for (let i = 0; i < count; i++) files.set(`many-${i}`, file(''));
    await writeAtomically(folder, files, undefined);
    assert.ok(visits <= 5 * count, `${visits} visits of ${count} files`);
  });

  it('refuses paths that are not inside of the volume', async () => {
    for (const path of ['../x', '/x', '..data/x', '']) {
      await assert.rejects(writeAtomically(folder, new Map([[path, file('')]]), undefined), PathEscape, path);
    }
  });
});

describe('rotated logs', () => {
  let folder: string;
  before(async () => {
    folder = await fs.mkdtemp(join(tmpdir(), 'rotate-'));
  });
  after(() => fs.rm(folder, { recursive: true, force: true }));

  it('begin anew, keep so many files, and never write by a link that somebody has put there', async () => {
    const path = join(folder, '0.log');
    const victim = join(folder, 'victim');
    await fs.writeFile(victim, 'untouched');
    let reopened = 0;
    const runtime = {
      reopenLog: async () => {
        reopened += 1;
        await fs.writeFile(path, '');
      },
    };
    for (let i = 0; i < 5; i++) {
      await fs.writeFile(path, `${i}`.repeat(100));
      const names = await fs.readdir(folder);
      for (const name of names.filter((each) => /\.\d{8}-\d{6}$/.test(each))) {
        await fs.symlink(victim, join(folder, `${name}.tmp`)).catch(() => undefined);
      }
      assert.equal(await rotateLog(runtime, 'id', path, 100, 3, Date.UTC(2026, 0, 1, 0, 0, i)), true);
    }
    assert.equal(await rotateLog(runtime, 'id', path, 100, 3, 0), false);
    assert.equal(reopened, 5);
    assert.equal(await fs.readFile(victim, 'utf8'), 'untouched');
    const kept = (await fs.readdir(folder)).filter((name) => name.startsWith('0.log')).sort();
    assert.deepEqual(kept, ['0.log', '0.log.20260101-000003.gz', '0.log.20260101-000004']);
  });

  it('are opened again when the process before was killed as it began a new one', async () => {
    const path = join(folder, 'killed.log');
    let reopened = 0;
    const runtime = { reopenLog: async () => void reopened++ };
    assert.equal(await rotateLog(runtime, 'id', path, 100, 3, 0), false, 'a log that nobody has written yet');
    await fs.writeFile(`${path}.20260101-000000`, 'renamed already');
    assert.equal(await rotateLog(runtime, 'id', path, 100, 3, 0), true);
    assert.equal(reopened, 1);
    assert.deepEqual(
      (await fs.readdir(folder)).filter((name) => name.startsWith('killed')),
      ['killed.log.20260101-000000'],
    );
  });

  it('are not rotated by way of a link', async () => {
    await fs.symlink(join(folder, 'victim'), join(folder, 'link'));
    assert.equal(await rotateLog({ reopenLog: async () => undefined }, 'id', join(folder, 'link'), 1, 3, 0), false);
  });
});
