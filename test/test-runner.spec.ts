import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { fileURLToPath } from 'node:url';

/* What `npm test` counts as a failure. */

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'plinth-runner-'));
after(() => rmSync(folder, { recursive: true }));

type Run = (
  files: readonly string[],
  options: Record<string, unknown>,
) => Promise<{ readonly passed: number; readonly failed: number }>;

/** Counts of a file with this text. */
async function countsOf(text: string): Promise<string> {
  const { runTestFiles } = (await import(join(root, 'scripts', 'test-files.js'))) as { runTestFiles: Run };
  const file = join(folder, 'some.spec.mjs');
  writeFileSync(file, `import { after, before, describe, it } from 'node:test';\n${text}`);
  const { passed, failed } = await runTestFiles([file], {
    node: process.execPath,
    root,
    concurrency: 1,
    mostAtOnce: 1,
    limitMs: 60_000,
    print: () => {},
    signal: new AbortController().signal,
  });
  return `${passed} passed, ${failed} failed`;
}

it('counts tests, and every hook that fails', async () => {
  const fails = `() => { throw new Error('no'); }`;
  assert.equal(await countsOf(`it('a', () => {}); describe('b', () => { it('c', () => {}); });`), '2 passed, 0 failed');
  assert.equal(await countsOf(`it('a', ${fails}); it('b', () => {});`), '1 passed, 1 failed');
  assert.equal(await countsOf(`before(${fails}); it('a', () => {});`), '0 passed, 1 failed');
  assert.equal(await countsOf(`after(${fails}); it('a', () => {});`), '1 passed, 1 failed');
  assert.match(await countsOf(`describe('b', () => { after(${fails}); it('c', () => {}); });`), /[1-9] failed$/);
});
