/** The most calls at once: more would only wait for connections that clients' requests need too. */
const mostAtOnce = 16;

/** The progress of a series of identical calls. */
export interface SlowStart {
  /** Calls that succeeded. */
  readonly done: number;
  /** The error of the first call that failed; undefined when all succeeded. */
  readonly error?: unknown;
}

/**
 * Calls `call` with the numbers below `count`, in batches of 1, 2, 4 and so on, each after the previous batch has
 * succeeded as a whole. Ends after the first batch with a failure: a call that does not work once is not tried a
 * thousand times.
 */
export async function slowStart(count: number, call: (index: number) => Promise<void>): Promise<SlowStart> {
  let begun = 0;
  for (let size = 1; begun < count; size *= 2) {
    const end = Math.min(count, begun + size);
    const batch = Array.from({ length: end - begun }, (_, i) => begun + i);
    const outcome = await allOf(batch, call);
    begun = end;
    if (outcome.error !== undefined) return { done: end - batch.length + outcome.done, error: outcome.error };
  }
  return { done: begun };
}

/** Calls `call` for every item, some at once, and continues after failures. */
export async function allOf<T>(items: readonly T[], call: (item: T) => Promise<void>): Promise<SlowStart> {
  const errors: unknown[] = [];
  let next = 0;
  const runner = async (): Promise<void> => {
    while (next < items.length) {
      const item = items[next++] as T;
      try {
        await call(item);
      } catch (error) {
        errors.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(items.length, mostAtOnce) }, runner));
  const done = items.length - errors.length;
  return errors.length === 0 ? { done } : { done, error: errors[0] };
}
