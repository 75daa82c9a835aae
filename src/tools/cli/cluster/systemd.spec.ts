import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { MadeHere } from './made-here.js';
import { isSystemdRunning, Systemd, type Unit, unitText } from './systemd.js';

const unit: Unit = {
  name: 'plinth-x',
  description: 'X',
  command: ['serve', '--bind-address=0.0.0.0', '--name=a b%c$d"e'],
  environmentFile: '/etc/plinth/x.env',
};

describe('units of systemd', () => {
  let folder: string;
  const path = process.env.PATH;
  const said = async () => (await readFile(join(folder, 'said'), 'utf8').catch(() => '')).trim().split('\n');
  const forget = () => rm(join(folder, 'said'), { force: true });

  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'plinth-systemd-')));
    // Stands in for the program of the service manager, and records what it is asked for.
    const program = join(folder, 'systemctl');
    await writeFile(
      program,
      `#!/bin/sh\necho "$*" >> ${folder}/said\ncase "$*" in *refused*) echo 'Failed: no such unit' >&2; exit 5;; esac\n`,
    );
    await chmod(program, 0o755);
    process.env.PATH = `${folder}${delimiter}${path}`;
  });
  after(async () => {
    process.env.PATH = path;
    await rm(folder, { recursive: true, force: true });
  });

  it('run one command each, with no secret in a file that others read', () => {
    const text = unitText(unit);
    assert.match(
      text,
      /^ExecStart=\S+node\S* \S+plinth\.js serve --bind-address=0\.0\.0\.0 "--name=a b%%c\$\$d\\"e"$/m,
    );
    assert.match(text, /^EnvironmentFile=-\/etc\/plinth\/x\.env$/m);
    assert.match(text, /^WantedBy=multi-user\.target$/m);
  });

  it('are started once, and again only when they have changed', async () => {
    const made = await MadeHere.open(join(folder, 'config'));
    const warnings: string[] = [];
    const units = await made.folder(join(folder, 'units'));
    const systemd = new Systemd(made, { warn: (line) => warnings.push(line) }, units);
    await systemd.run([unit]);
    assert.deepEqual(await said(), ['daemon-reload', 'enable --now plinth-x.service']);
    assert.equal((await stat(join(units, 'plinth-x.service'))).mode & 0o777, 0o644);
    await forget();
    await systemd.run([unit]);
    assert.deepEqual(await said(), ['daemon-reload', 'enable --now plinth-x.service']);
    await forget();
    await systemd.run([{ ...unit, description: 'Y' }]);
    assert.deepEqual((await said()).at(-1), 'restart plinth-x.service');
    await writeFile(join(units, 'plinth-x.service'), 'mine');
    await systemd.run([unit]);
    assert.equal(await readFile(join(units, 'plinth-x.service'), 'utf8'), 'mine');
    assert.equal(warnings.length, 1);
    assert.deepEqual((await made.things()).units, ['plinth-x.service']);
    await forget();
    await systemd.end(['plinth-x.service', 'plinth-gone.service']);
    assert.deepEqual(await said(), ['disable --now plinth-x.service']);
  });

  it('fail with the words of the service manager', async () => {
    const made = await MadeHere.open(join(folder, 'refusing'));
    const systemd = new Systemd(made, { warn: () => undefined }, await made.folder(join(folder, 'more')));
    await assert.rejects(
      systemd.run([{ ...unit, name: 'refused' }]),
      /^StartupError: systemctl enable --now refused\.service: Failed: no such unit$/,
    );
  });

  it('are for machines that systemd runs', () => {
    assert.equal(isSystemdRunning(folder), true);
    assert.equal(isSystemdRunning(join(folder, 'nowhere')), false);
  });

  it('explain why one does not work by the end of its log', async () => {
    const journal = join(folder, 'journalctl');
    await writeFile(journal, `#!/bin/sh\necho "$*" >> ${folder}/said\necho first\necho second\necho first\n`);
    await chmod(journal, 0o755);
    await forget();
    const systemd = new Systemd(await MadeHere.open(join(folder, 'config')), { warn: () => undefined });
    const wanted = ': see journalctl -u plinth-x, which ends with: first | second';
    assert.equal(await systemd.explanation('plinth-x', 1_999), wanted);
    assert.match((await said()).join(), /--since=@1 --identifier=plinth-x/);
    await rm(journal);
    await writeFile(journal, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    assert.equal(await systemd.explanation('plinth-x', 0), ': see journalctl -u plinth-x');
  });
});
