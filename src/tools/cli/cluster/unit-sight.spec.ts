import assert from 'node:assert/strict';
import { chmod, chown, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { checkUnitsSee, pathsIn } from './unit-sight.js';

describe('files that units need', () => {
  let folder: string;
  /** What units do not see here. The real ones may have these tests in them. */
  let hidden: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'plinth-sight-'));
    await chmod(folder, 0o755);
    hidden = join(folder, 'tmp');
    await Promise.all([mkdir(join(folder, 'open')), mkdir(hidden)]);
    await writeFile(join(folder, 'open', 'file'), '');
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('are seen outside of temporary folders', async () => {
    await checkUnitsSee([join(folder, 'open', 'file'), join(folder, 'not-there'), `${hidden}files/x`], true, [hidden]);
  });

  it('are not seen in temporary folders', async () => {
    for (const path of ['/tmp/plinth/bin/plinth.js', '/var/tmp/x']) {
      await assert.rejects(checkUnitsSee([path], true), {
        message: new RegExp(
          `^units of systemd do not see ${path}, since they have a (/var)?/tmp of their own: .* --foreground$`,
        ),
      });
    }
  });

  it('are not seen where a link leads into a temporary folder', async () => {
    await mkdir(join(hidden, 'target'));
    await symlink(join(hidden, 'target'), join(folder, 'to-tmp'));
    await assert.rejects(checkUnitsSee([join(folder, 'to-tmp')], true, [hidden]), /do not see/);
  });

  it('are not read in a folder of another user, unless the units may pass that', async (context) => {
    if (process.getuid?.() !== 0) return context.skip('needs root');
    const home = join(folder, 'home');
    await mkdir(home);
    await writeFile(join(home, 'file'), '');
    await chown(home, 1000, 1000);
    await chmod(home, 0o700);
    await assert.rejects(checkUnitsSee([join(home, 'file')], false, [hidden]), {
      message: `units of systemd may not read ${join(home, 'file')}, since ${home} belongs to another user and is closed to all others: put it into another folder, or use --foreground`,
    });
    await checkUnitsSee([join(home, 'file')], true, [hidden]);
    await chmod(home, 0o711);
    await checkUnitsSee([join(home, 'file')], false, [hidden]);
  });

  it('are found in commands', () => {
    assert.deepEqual(pathsIn(['/usr/bin/node', 'serve', '--bind-address=::', '--audit-policy-file=/tmp/a']), [
      ...['/usr/bin/node', '/tmp/a'],
    ]);
  });
});
