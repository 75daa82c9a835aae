import assert from 'node:assert/strict';
import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { nestFolders } from '../../../test/support/nest-folders.js';
import { removeTree } from './remove-tree.js';

it('removeTree removes folders that are nested deeper than paths can be, and nothing by way of a link', async () => {
  const folder = await fs.mkdtemp(join(tmpdir(), 'plinth-tree-'));
  await fs.mkdir(join(folder, 'outside'));
  await fs.writeFile(join(folder, 'outside', 'file'), '');
  await fs.mkdir(join(folder, 'tree'));
  await fs.symlink('../outside', join(folder, 'tree', 'link'));
  nestFolders(join(folder, 'tree'));
  await removeTree(join(folder, 'tree'));
  assert.deepEqual(await fs.readdir(folder), ['outside']);
  assert.deepEqual(await fs.readdir(join(folder, 'outside')), ['file']);
  await removeTree(join(folder, 'tree'));
  await removeTree(folder);
});
