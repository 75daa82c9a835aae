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
    phases.resetEngine();
    console.log(new Set([before, start, serving]).size, tag() === before);
  `);
  assert.equal(printed, '3 true');
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
