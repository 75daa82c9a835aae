import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { runtimeAnnotations, runtimeLabels } from '../cri/labels.js';
import type { RuntimeContainer } from '../pods/runtime-pod.js';
import { terminationMessage } from './termination-message.js';

describe('the termination message of a run', () => {
  let folder: string;
  before(async () => {
    folder = await fs.mkdtemp(join(tmpdir(), 'message-'));
    await fs.mkdir(join(folder, 'main'));
  });
  after(() => fs.rm(folder, { recursive: true }));

  const containerPath = '/dev/termination-log';
  const run = (name: string, policy = 'File', exitCode = 1) =>
    ({
      exitCode,
      labels: { [runtimeLabels.containerName]: 'main' },
      annotations: {
        [runtimeAnnotations.terminationMessagePath]: containerPath,
        [runtimeAnnotations.terminationMessagePolicy]: policy,
        [runtimeAnnotations.restartCount]: '0',
      },
      mounts: [{ containerPath, hostPath: join(folder, name) }],
    }) as unknown as RuntimeContainer;
  const log = (...entries: readonly string[]) =>
    fs.writeFile(
      join(folder, 'main', '0.log'),
      entries.map((entry) => `2026-01-01T00:00:00.000000000Z stdout ${entry}\n`).join(''),
    );
  const logged = () => terminationMessage(run('empty', 'FallbackToLogsOnError'), folder);

  it('is the end of its file', async () => {
    await fs.writeFile(join(folder, 'short'), 'broken\n');
    assert.equal(await terminationMessage(run('short'), folder), 'broken\n');
    await fs.writeFile(join(folder, 'long'), `first${'x'.repeat(5000)}last`);
    assert.equal(await terminationMessage(run('long'), folder), `${'x'.repeat(4092)}last`);
  });

  it('is the end of its log if the file is empty, the run has failed and the pod wants that', async () => {
    await fs.writeFile(join(folder, 'empty'), '');
    await log('F one', 'F two');
    assert.equal(await logged(), 'one\ntwo\n');
    assert.equal(await terminationMessage(run('empty', 'FallbackToLogsOnError', 0), folder), undefined);
    assert.equal(await terminationMessage(run('empty'), folder), undefined);
    assert.equal(await terminationMessage(run('short', 'FallbackToLogsOnError'), folder), 'broken\n');
  });

  it('has the end of a log of many lines, or of one line that is longer than the message', async () => {
    await fs.writeFile(join(folder, 'empty'), '');
    await log(...Array.from({ length: 200 }, (_, i) => `F line ${i}`));
    const lines = (await logged())?.split('\n') ?? [];
    assert.deepEqual([lines.length, lines[0], lines[79]], [81, 'line 120', 'line 199']);
    await log('F before', `P ${'a'.repeat(16_000)}`, `P ${'b'.repeat(16_000)}`, 'F end');
    assert.equal(await logged(), `${'b'.repeat(2044)}end\n`);
    await log(`F ${'one word after the other '.repeat(1000)}`);
    assert.match((await logged()) ?? '', /^[a-z ]{2047}\n$/);
  });

  it('is empty for anything but a file, which is not followed and does not block', { timeout: 120_000 }, async () => {
    await fs.writeFile(join(folder, 'secret'), 'of another pod');
    await fs.symlink(join(folder, 'secret'), join(folder, 'link'));
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    await fs.mkdir(join(folder, 'folder'));
    for (const name of ['link', 'pipe', 'folder', 'none'])
      assert.equal(await terminationMessage(run(name), folder), undefined, name);
    await fs.rm(join(folder, 'main', '0.log'));
    await fs.symlink('../../../../etc/passwd', join(folder, 'main', '0.log'));
    assert.equal(await logged(), undefined);
  });
});
