import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { QuietCollection } from './quiet-collection.js';
import { smallStart } from './restart-small.js';

const present = {
  program: '/node',
  engineFlags: ['--enable-source-maps'],
  command: ['main.js', 'node', '--port=1'],
  variables: { HOME: '/root' },
};

describe('restartSmall', () => {
  it('adds settings to those that the process has, and does so once', () => {
    const start = smallStart(present);
    assert.deepEqual(start, {
      ...present,
      engineFlags: [
        ...['--enable-source-maps', '--max-semi-space-size=1', '--expose-gc'],
        ...['--no-opt', '--no-maglev', '--optimize-for-size'],
      ],
      variables: {
        ...{ HOME: '/root', PLINTH_SMALL: '1' },
        ...{ MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '8192' },
        ...{ MALLOC_TRIM_THRESHOLD_: '65536', MALLOC_TOP_PAD_: '16384' },
      },
    });
    assert.equal(smallStart(start), undefined);
  });

  it('leaves settings that somebody has chosen', () => {
    assert.equal(smallStart({ ...present, engineFlags: ['--max-semi-space-size=16'] }), undefined);
    assert.equal(smallStart({ ...present, variables: { NODE_OPTIONS: '--max_semi_space_size=16' } }), undefined);
    const start = smallStart({ ...present, variables: { MALLOC_ARENA_MAX: '4' } });
    assert.equal(start?.variables.MALLOC_ARENA_MAX, '4');
  });

  it('keeps the id and the arguments of the process', () => {
    const file = new URL('./restart-small.js', import.meta.url).href;
    const script = `
      const { restartSmall } = await import(${JSON.stringify(file)});
      process.env.FIRST ??= String(process.pid);
      restartSmall();
      console.log(process.env.FIRST === String(process.pid), process.execArgv.includes('--max-semi-space-size=1'));
      console.log(JSON.stringify(process.argv.slice(-2)));`;
    const { PLINTH_SMALL: _small, FIRST: _first, ...env } = process.env;
    const folder = mkdtempSync(join(tmpdir(), 'plinth-small-'));
    const path = join(folder, 'program.mjs');
    writeFileSync(path, script);
    const lines = execFileSync(process.execPath, [path, 'one', 'two words'], { env, encoding: 'utf8' })
      .trim()
      .split('\n');
    rmSync(folder, { recursive: true });
    assert.deepEqual(lines, ['true true', '["one","two words"]']);
  });
});

describe('QuietCollection', () => {
  it('collects when the process has become quiet after work, and not again before there was more', () => {
    let usedMs = 500;
    let collections = 0;
    const collection = new QuietCollection({ usedMs: () => usedMs, collect: () => (collections += 1) });
    const outcomes = [9_000, 100, 100, 600, 100, 400, 300, 3_500, 50].map((worked) => {
      usedMs += worked;
      return collection.look();
    });
    // Busy; quiet after work; quiet without much work since; busy; still too little; busy; enough.
    assert.deepEqual(outcomes, [false, true, false, false, false, false, false, false, true]);
    assert.equal(collections, 2);
  });
});
