import assert from 'node:assert/strict';
import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { hasText } from './has-text.js';

it('hasText compares a file with a text, and reads no more of a file that a container has made large', async () => {
  const folder = await fs.mkdtemp(join(tmpdir(), 'plinth-text-'));
  const path = join(folder, 'hosts');
  assert.equal(await hasText(path, ''), false);
  await fs.writeFile(path, 'né');
  assert.deepEqual(
    [await hasText(path, 'né'), await hasText(path, 'n'), await hasText(path, 'né ')],
    [true, false, false],
  );
  // A sparse file, as any container can make one: it takes no room on the disk.
  await fs.truncate(path, 1.5 * 2 ** 30);
  const before = process.memoryUsage().rss;
  assert.equal(await hasText(path, 'né'), false);
  assert.ok(process.memoryUsage().rss - before < 256 * 2 ** 20);
  await fs.rm(folder, { recursive: true });
});
