// Runs several test files in one process: each is a suite, so that its hooks are its own.
import { appendFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { after, describe } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

const require = createRequire(import.meta.url);
/** How long handles that tests opened may take to close. */
const closeMs = 3_000;
const lookMs = 50;
/** Handles of the database that the files share: its process, and the pipe for its log. */
const shared = new Set(['ProcessWrap', 'PipeWrap', 'CloseReq']);

/** The number of handles of each kind that keep this process alive. */
function openThings() {
  const counts = new Map();
  for (const kind of process.getActiveResourcesInfo()) {
    if (!shared.has(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

/** The handles that are open now and were not before, such as `2 TCPSocketWrap`. */
function opened(before) {
  const more = [...openThings()].map(([kind, count]) => [kind, count - (before.get(kind) ?? 0)]);
  return more.filter(([, count]) => count > 0).map(([kind, count]) => `${count} ${kind}`);
}

/** Records a file that would not exit if it ran in its own process. */
async function nameOpen(file, before) {
  let left = opened(before);
  for (const end = performance.now() + closeMs; left.length > 0 && performance.now() < end; left = opened(before)) {
    await delay(lookMs);
  }
  const record = process.env.PLINTH_TEST_LEFT_OPEN;
  if (left.length > 0 && record !== undefined) appendFileSync(record, `${file} leaves open: ${left.join(', ')}\n`);
}

let before = new Map();
for (const file of process.argv.slice(2)) {
  describe(file, () => {
    require(resolve(file));
    // The hooks of the file run first.
    after(async () => {
      await nameOpen(file, before);
      before = openThings();
    });
  });
}

after(() => globalThis[Symbol.for('plinth.test.endShared')]?.());
