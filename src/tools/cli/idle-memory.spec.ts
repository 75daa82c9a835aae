import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { IdleMemory } from './idle-memory.js';

function watched(youngBytes: number) {
  const state = { processorMs: 0, elapsedMs: 0, youngBytes, collections: 0 };
  const memory = new IdleMemory({
    processorMs: () => state.processorMs,
    elapsedMs: () => state.elapsedMs,
    youngBytes: () => state.youngBytes,
    collect: () => {
      state.collections++;
    },
  });
  const pass = (elapsedMs: number, processorMs: number) => {
    state.elapsedMs += elapsedMs;
    state.processorMs += processorMs;
    memory.look();
    return state.collections;
  };
  return { state, pass };
}

test('an idle process collects until it holds little', () => {
  const { state, pass } = watched(32 * 2 ** 20);
  assert.equal(pass(5_000, 100), 1);
  assert.equal(pass(5_000, 100), 2);
  state.youngBytes = 2 ** 20;
  assert.equal(pass(5_000, 100), 2);
});

test('a busy process is left alone, and so is the time after which it is idle again', () => {
  const { pass } = watched(32 * 2 ** 20);
  assert.equal(pass(5_000, 4_000), 0);
  assert.equal(pass(5_000, 300), 0);
  assert.equal(pass(5_000, 50), 1);
});

test('the engine really collects', () => {
  const code = `
    import { getHeapSpaceStatistics } from 'node:v8';
    import { keepIdleMemorySmall } from ${JSON.stringify(new URL('./idle-memory.js', import.meta.url).href)};
    const used = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_used_size;
    let look;
    globalThis.setInterval = (tick) => ((look = tick), { unref() {} });
    keepIdleMemorySmall();
    let kept = [];
    for (let i = 0; i < 2_000_000; i++) { kept.push({ i }); if (kept.length > 200_000) kept = []; }
    kept = [];
    while (used() < 4 * 2 ** 20) kept = [...Array(1000).keys()].map(String);
    kept = [];
    const full = used();
    // So long ago that the work above does not count.
    performance.now = () => 1e9;
    look();
    console.log(JSON.stringify({ full, rest: used() }));
  `;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
  assert.equal(stderr, '');
  const { full, rest } = JSON.parse(stdout) as { full: number; rest: number };
  assert.ok(rest < full / 2, stdout);
});
