import { Readable } from 'node:stream';
import { spec as Spec } from 'node:test/reporters';

/** Node's own report, then one line `N passed, N failed` for whoever reads only the end. */
export default async function* report(events) {
  let counts = { passed: 0, failed: 0, cancelled: 0 };
  async function* watched() {
    for await (const event of events) {
      // Each file has a summary of its own; the one over all files names none.
      if (event.type === 'test:summary' && event.data.file === undefined) counts = event.data.counts;
      yield event;
    }
  }
  yield* Readable.from(watched()).pipe(new Spec());
  const failed = counts.failed + counts.cancelled;
  if (counts.passed + failed === 0) process.exitCode = 1;
  yield `${counts.passed} passed, ${failed} failed\n`;
}
