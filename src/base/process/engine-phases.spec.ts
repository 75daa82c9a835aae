import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

/** The output of a process that has these functions, the tag of compiled code, and a function that works for a time. */
function run(code: string): string {
  const program = `
    import { setTimeout as delay } from 'node:timers/promises';
    import { cachedDataVersionTag as tag } from 'node:v8';
    import * as phases from ${JSON.stringify(new URL('./engine-phases.js', import.meta.url).href)};
    const before = tag();
    ${code}
  `;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
    timeout: 120_000,
  });
  assert.equal(stderr, '');
  assert.equal(status, 0);
  return stdout.trim();
}

test('the flags of each phase are other ones, and the defaults are those of the engine', () => {
  const printed = run(`
    phases.beginStart();
    const start = tag();
    phases.beginServing();
    const serving = tag();
    let during;
    phases.withEngineDefaults(() => { during = tag(); });
    console.log(new Set([before, start, serving, tag()]).size, during === before);
  `);
  assert.equal(printed, '4 true');
});

test('buffers of a server do not make the engine collect the whole heap again and again', () => {
  const collections = (begin: string) =>
    run(`
    import { PerformanceObserver, constants } from 'node:perf_hooks';
    let whole = 0;
    new PerformanceObserver((list) => {
      for (const { detail } of list.getEntries()) if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) whole++;
    }).observe({ entryTypes: ['gc'] });
    ${begin}
    const kept = Array.from({ length: 300_000 }, (_, i) => ({ i, text: 'x' + i }));
    await delay(200);
    const atFirst = whole;
    for (let i = 0; i < 200; i++) {
      Buffer.alloc(1_200_000);
      await delay(1);
    }
    await delay(200);
    console.log(whole - atFirst, kept.length);
  `);
  const [served, other] = ['phases.beginServing();', ''].map((begin) => Number(collections(begin).split(' ')[0]));
  assert.ok((served as number) * 2 <= (other as number), `${served} of ${other}`);
});

test('a process that works for longer than a start gets the defaults back', () => {
  const printed = run(`
    phases.beginStart();
    phases.limitStart(100);
    const start = tag();
    const begun = process.cpuUsage();
    for (;;) {
      const { user, system } = process.cpuUsage(begun);
      if (user + system > 100_000) break;
    }
    while (tag() !== before) await delay(20);
    console.log(start !== before);
  `);
  assert.equal(printed, 'true');
});
