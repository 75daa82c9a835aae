import assert from 'node:assert/strict';
import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { readManifestFile } from './read-manifest-file.js';

it('a manifest that changes while it is read is not taken for a whole one', { timeout: 60_000 }, async (t) => {
  const folder = await fs.mkdtemp(join(tmpdir(), 'plinth-manifest-'));
  t.after(() => fs.rm(folder, { recursive: true }));
  const path = join(folder, 'file');
  await fs.writeFile(path, 'line\n');
  assert.equal(await readManifestFile(path), 'line\n');
  let isWriting = true;
  const writing = (async () => {
    while (isWriting) await fs.appendFile(path, 'line\n');
  })();
  const problems = new Set<string>();
  while (problems.size === 0) {
    const found = await readManifestFile(path).catch((error: Error) => void problems.add(error.message));
    if (typeof found === 'string') assert.match(found, /^(line\n)+$/);
  }
  isWriting = false;
  await writing;
  assert.deepEqual([...problems], ['is being written']);
  assert.equal(await readManifestFile(path), await fs.readFile(path, 'utf8'));
});
