/**
 * Does something `count` times, some at one time: a database that others use as well has not written thousands of
 * objects before those that wait longest give up.
 */
export async function inParts(count: number, work: (i: number) => Promise<unknown>, atOnce = 200): Promise<void> {
  for (let from = 0; from < count; from += atOnce) {
    await Promise.all(Array.from({ length: Math.min(atOnce, count - from) }, (_, i) => work(from + i)));
  }
}
