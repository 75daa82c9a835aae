import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { systemClock } from '../../../base/machinery/clock.js';
import { writeFileAtomically } from '../../../base/machinery/files.js';
import { lockDirectory } from '../directory-lock.js';
import { locateBinaries } from './binaries.js';
import { isGuarded } from './guarded-path.js';
import { handOverFolder } from './hand-over.js';
import { preparePostgresHome } from './home.js';
import { keptDatabases, removeOrphan } from './orphans.js';
import { chooseServiceUser, type ServiceUser } from './service-user.js';
import { startSupervised } from './supervised-process.js';

const isRoot = process.getuid?.() === 0;
const needsRoot = { skip: !isRoot && 'needs root to be somebody else' };
/** Somebody else on this machine. */
const mallory = 54_321;

describe('folders for the user that runs Postgres', () => {
  let root: string;
  let user: ServiceUser;

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'plinth-hand-over-'));
    chmodSync(root, 0o755);
    user = await chooseServiceUser();
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const uid = (): number => user.uid ?? process.getuid?.() ?? 0;

  it("are made, or are that user's already", async () => {
    const path = join(root, 'a', 'b');
    await handOverFolder(path, user, 0o700);
    assert.equal(statSync(path).uid, uid());
    assert.equal(statSync(path).mode & 0o777, 0o700);
    writeFileSync(join(path, 'kept'), '');
    chmodSync(path, 0o755);
    await handOverFolder(path, user, 0o700);
    assert.equal(statSync(path).mode & 0o777, 0o700);
  });

  it('are not what a link leads to, nor a file', async () => {
    const target = join(root, 'target');
    mkdirSync(target, { mode: 0o755 });
    symlinkSync(target, join(root, 'link'));
    await assert.rejects(handOverFolder(join(root, 'link'), user, 0o700), /is a link or a file/);
    assert.equal(statSync(target).mode & 0o777, 0o755);
    assert.equal(statSync(target).uid, process.getuid?.());
    writeFileSync(join(root, 'file'), '');
    await assert.rejects(
      handOverFolder(join(root, 'file'), user, 0o700),
      /is a link or a file|is a file, not a folder/,
    );
  });

  it("are neither somebody else's nor full of what is not theirs", needsRoot, async () => {
    const others = join(root, 'others');
    mkdirSync(others);
    chownSync(others, mallory, mallory);
    await assert.rejects(handOverFolder(others, user, 0o700), /belongs to user id 54321/);
    assert.equal(statSync(others).uid, mallory);
    const full = join(root, 'full');
    mkdirSync(join(full, 'inner'), { recursive: true });
    writeFileSync(join(full, 'secret'), '');
    await assert.rejects(handOverFolder(full, user, 0o700), /neither empty nor/);
    for (const path of [full, join(full, 'inner'), join(full, 'secret')]) assert.equal(lstatSync(path).uid, 0);
  });

  it('lie where nobody else can change the way to them', needsRoot, async () => {
    const open = join(root, 'open');
    mkdirSync(join(open, 'data'), { recursive: true });
    assert.equal(await isGuarded(join(open, 'data')), true);
    chmodSync(open, 0o777);
    assert.equal(await isGuarded(join(open, 'data')), false);
    chmodSync(open, 0o1777);
    assert.equal(await isGuarded(join(open, 'data')), true);
    chownSync(join(open, 'data'), mallory, mallory);
    assert.equal(await isGuarded(join(open, 'data')), false);
    symlinkSync(root, join(open, 'link'));
    assert.equal(await isGuarded(join(open, 'link')), true);
    spawnSync('ln', ['-s', '/', join(open, 'evil')], { uid: mallory, gid: mallory });
    assert.equal(await isGuarded(join(open, 'evil')), false);
  });

  const prepare = (directory: string, fallbackRoot = join(root, 'fallback')) =>
    preparePostgresHome({ directory, fallbackRoot, user, binaries: locateBinaries(), clock: systemClock });

  it('are far from a data folder that others can change', needsRoot, async () => {
    const theirs = join(root, 'theirs');
    mkdirSync(theirs);
    mkdirSync(join(root, 'victim'));
    writeFileSync(join(root, 'victim', 'file'), 'x');
    for (const name of ['postgres', 'log', 'socket']) symlinkSync(join(root, 'victim'), join(theirs, name));
    chownSync(theirs, mallory, mallory);
    const home = await prepare(theirs);
    assert.ok(home.dataDirectory.startsWith(join(root, 'fallback')));
    assert.equal(statSync(join(root, 'victim')).uid, 0);
    assert.equal(statSync(join(root, 'victim', 'file')).uid, 0);
    // The next start reads the note, which its owner can change.
    const forged = join(root, 'forged');
    mkdirSync(forged);
    writeFileSync(join(forged, 'postgres.json'), JSON.stringify({ directory: join(root, 'victim') }));
    mkdirSync(join(root, 'victim', 'postgres'));
    await assert.rejects(prepare(forged), /which is not in/);
    assert.equal(statSync(join(root, 'victim', 'postgres')).uid, 0);
  });

  it('have no place that others can change', needsRoot, async () => {
    const fallback = join(root, 'fallback');
    mkdirSync(fallback);
    chmodSync(fallback, 0o777);
    const theirs = join(root, 'theirs');
    mkdirSync(theirs);
    chownSync(theirs, mallory, mallory);
    await assert.rejects(prepare(theirs), /can be changed by other users/);
  });

  it('are not in the shared folder of temporary files, for root', needsRoot, async () => {
    const long = join(root, 'long'.repeat(30));
    mkdirSync(long);
    const { socketDirectory } = await prepare(long);
    assert.ok(socketDirectory.startsWith(join(root, 'fallback', 'socket-')), socketDirectory);
    assert.equal(statSync(socketDirectory).uid, uid());
  });

  it('can have no link in the place of a file that root writes', async () => {
    const victim = join(root, 'victim');
    writeFileSync(victim, 'mine', { mode: 0o644 });
    const folder = join(root, 'folder');
    mkdirSync(folder);
    symlinkSync(victim, join(folder, 'postgres.log'));
    const options = { user, logFile: join(folder, 'postgres.log'), environment: {} };
    await assert.rejects(startSupervised('/bin/echo', ['written'], options));
    symlinkSync(victim, join(folder, `plinth.pid.${process.pid}`));
    await (await lockDirectory(folder)).release();
    symlinkSync(victim, join(folder, 'secret'));
    await writeFileAtomically(
      join(folder, 'secret'),
      'secret',
      0o600,
      isRoot ? { uid: mallory, gid: mallory } : undefined,
    );
    assert.equal(lstatSync(join(folder, 'secret')).isFile(), true);
    assert.equal(readFileSync(victim, 'utf8'), 'mine');
    assert.equal(statSync(victim).mode & 0o777, 0o644);
    assert.equal(statSync(victim).uid, process.getuid?.());
  });

  it('are reported and removed when their data folder is gone, and only then', needsRoot, async () => {
    const fallback = join(root, 'fallback');
    const gone = join(root, 'gone');
    const kept = join(root, 'kept');
    for (const folder of [gone, kept]) {
      mkdirSync(folder);
      chownSync(folder, mallory, mallory);
    }
    const [first, second] = [await prepare(gone), await prepare(kept)];
    const place = (data: string) => join(data, '..');
    // A database of an earlier release, and folders that are not databases.
    mkdirSync(join(fallback, '0123456789abcdef', 'postgres'), { recursive: true });
    mkdirSync(join(fallback, 'pki'));
    const states = async () =>
      Object.fromEntries((await keptDatabases(fallback)).map(({ path, state }) => [path, state]));
    assert.deepEqual(await states(), {
      [place(first.dataDirectory)]: 'used',
      [place(second.dataDirectory)]: 'used',
      [join(fallback, '0123456789abcdef')]: 'unknown',
    });
    rmSync(gone, { recursive: true });
    // A user who deletes the folder starts with an empty database; the old data stay next to the new ones.
    rmSync(join(kept, 'postgres.json'));
    await prepare(kept);
    const after = await states();
    assert.equal(after[place(first.dataDirectory)], 'orphaned');
    assert.equal(after[place(second.dataDirectory)], 'used');
    for (const [path, state] of Object.entries(after)) {
      assert.equal(await removeOrphan(fallback, path), state === 'orphaned', path);
      assert.equal(existsSync(path), state !== 'orphaned', path);
    }
    assert.equal(Object.values(after).filter((state) => state === 'orphaned').length, 2);
    assert.ok(existsSync(join(second.dataDirectory)) && existsSync(join(fallback, 'pki')));
    assert.equal(await removeOrphan(fallback, join(fallback, 'pki')), false);
  });
});
