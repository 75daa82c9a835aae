import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { it } from 'node:test';
import { endWithUs } from '../support/child-guard.js';
import { unlessThere } from '../support/needs.js';

const needs = ['root', 'nft', 'conntrack', 'ip', 'unshare', 'nsenter'];

it('services lead where they should', { skip: unlessThere('the proxy of a node', needs) }, async () => {
  const main = join(import.meta.dirname, '../proxy/proxy.check.js');
  // The test runner must not take the check for a test of its own, and the check stops its PostgreSQL itself.
  const { NODE_TEST_CONTEXT: _, PLINTH_TEST_GROUP: __, ...env } = process.env;
  const child = spawn('unshare', ['-n', process.execPath, '--enable-source-maps', main], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env,
  });
  endWithUs(child);
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString('utf8');
  });
  const [code] = (await once(child, 'close')) as [number | null];
  assert.equal(code, 0, said);
});
