import assert from 'node:assert/strict';
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { fileURLToPath } from 'node:url';

/* What `npm test` counts as a failure. */

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'plinth-runner-'));
after(() => rmSync(folder, { recursive: true }));

type Run = (
  groups: readonly { readonly files: readonly string[] }[],
  options: Record<string, unknown> & { readonly print: (line: string) => void },
) => Promise<{ readonly passed: number; readonly failed: number }>;

/** The lines of the last run. */
let printed: string[] = [];

/** Counts of files with these texts, in one process. */
async function countsOf(...texts: readonly string[]): Promise<string> {
  const { runTestFiles } = (await import(join(root, 'scripts', 'test-files.js'))) as { runTestFiles: Run };
  const files = texts.map((text, i) => {
    const file = join(folder, `some-${i}.spec.mjs`);
    writeFileSync(file, `import { after, before, describe, it } from 'node:test';\n${text}`);
    return file;
  });
  printed = [];
  const { passed, failed } = await runTestFiles([{ files }], {
    node: process.execPath,
    root,
    concurrency: 1,
    mostAtOnce: 1,
    limitMs: 60_000,
    print: (line) => void printed.push(line),
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

it('keeps the hooks of files that share a process apart', async () => {
  const counting = (name: string) =>
    `let runs = 0; before(() => { runs++; }); it('${name}', () => { if (runs !== 1) throw new Error('no'); });`;
  const fails = `() => { throw new Error('no'); }`;
  assert.equal(await countsOf(counting('a'), counting('b')), '2 passed, 0 failed');
  assert.equal(await countsOf(`before(${fails}); it('a', () => {});`, counting('b')), '1 passed, 1 failed');
  assert.match(await countsOf(`after(${fails}); it('a', () => {});`, counting('b')), /[1-9] failed$/);
  assert.match(await countsOf(`throw new Error('no');`, counting('b')), /[1-9] failed$/);
  assert.equal(await countsOf(`it('a', () => { setInterval(() => {}, 1000); });`, counting('b')), '2 passed, 0 failed');
  assert.match(printed.join('\n'), /LEFT .*some-0\.spec\.mjs leaves open: 1 Timeout$/m);
  assert.doesNotMatch(printed.join('\n'), /some-1\.spec\.mjs leaves/);
  assert.match(await countsOf(`await 1; it('a', () => {});`, counting('b')), /[1-9] failed$/);
});

it('has each test file in npm test or in the suites that CI adds, and no suite names files that are gone', async () => {
  const { filesOfSuite, suites } = (await import(join(root, 'scripts', 'test-suites.js'))) as {
    filesOfSuite(files: readonly string[], name: string | undefined): string[] | undefined;
    suites: Readonly<Record<string, readonly string[]>>;
  };
  const files = globSync(['src/**/*.spec.ts', 'test/**/*.spec.ts'], { cwd: root });
  const usual = filesOfSuite(files, undefined) ?? [];
  const more = filesOfSuite(files, 'more') ?? [];
  assert.deepEqual([...usual, ...more].toSorted(), files.toSorted());
  const named = Object.keys(suites).flatMap((name) => filesOfSuite(files, name) ?? []);
  assert.deepEqual(named.toSorted(), more.toSorted(), 'a file is in two suites');
  const parts = Object.values(suites).flat();
  assert.deepEqual(
    parts.filter((part) => !files.some((file) => file.includes(part))),
    [],
  );
  assert.equal(filesOfSuite(files, 'unknown'), undefined);
});
