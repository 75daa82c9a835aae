import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { writeAtomically } from './atomic-writer.js';
import { prepareHostPath } from './host-path.js';

describe('a host path', () => {
  it('must be what the pod wants, and the problem names what it is', async () => {
    const folder = await fs.mkdtemp(join(tmpdir(), 'plinth-host-path-'));
    try {
      const none = join(folder, 'none');
      await assert.rejects(prepareHostPath(none, 'Directory'), {
        message: `hostPath type check failed, ${none} is not a directory, unable to determine its type: path "${none}" does not exist`,
      });
      await assert.rejects(prepareHostPath(folder, 'File'), {
        message: `hostPath type check failed: ${folder} is not a file, it's a Directory`,
      });
      await prepareHostPath(folder, 'Directory');
      await prepareHostPath(none, 'FileOrCreate');
      assert.equal((await fs.readFile(none)).length, 0);
    } finally {
      await fs.rm(folder, { recursive: true, force: true });
    }
  });

  it('that is there is not opened: a pipe that nobody reads would hold up the agent', {
    timeout: 120_000,
  }, async () => {
    const folder = await fs.mkdtemp(join(tmpdir(), 'plinth-host-path-'));
    try {
      const pipe = join(folder, 'pipe');
      execFileSync('mkfifo', [pipe]);
      await assert.rejects(prepareHostPath(pipe, 'FileOrCreate'), {
        message: `hostPath type check failed, ${pipe} is not a file, unable to determine its type: only recognise file, directory, socket, block device and character device`,
      });
      const link = join(folder, 'link');
      await fs.symlink(join(folder, 'target'), link);
      await prepareHostPath(link, 'FileOrCreate').catch(() => undefined);
    } finally {
      await fs.rm(folder, { recursive: true, force: true });
    }
  });
});

describe('writeAtomically', { skip: process.getuid?.() !== 0 && 'only root gives files away' }, () => {
  it('gives the link to a folder to the owner of the files in it', async () => {
    const folder = await fs.mkdtemp(join(tmpdir(), 'plinth-atomic-'));
    try {
      const file = { content: Buffer.from('t'), mode: 0o600, owner: 1234 };
      await writeAtomically(folder, new Map([['deep/token', file]]), undefined);
      assert.equal((await fs.lstat(join(folder, 'deep'))).uid, 1234);
    } finally {
      await fs.rm(folder, { recursive: true, force: true });
    }
  });
});
