import { setImmediate } from 'node:timers/promises';

/** Work in small steps: whoever runs it may stop after each of them to let others have their turn. */
export type Steps<T = void> = Generator<undefined, T, undefined>;

/** The event loop is held for about so long before others get their turn, in milliseconds. */
const turnMs = 5;
/** A step of a long loop is as many of its rounds. */
const roundsOfStep = 256;

/** Does all steps now. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Does the steps in turns with everything else. */
export async function inTurns<T>(steps: Steps<T>): Promise<T> {
  for (let began = performance.now(); ; ) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (performance.now() - began < turnMs) continue;
    await setImmediate();
    began = performance.now();
  }
}

/** Calls `visit` for every value; many are many steps. */
export function* eachInSteps<T>(values: Iterable<T>, visit: (value: T) => void): Steps {
  let rounds = 0;
  for (const value of values) {
    visit(value);
    if (++rounds % roundsOfStep === 0) yield;
  }
}

/** A set of the values; many are many steps. */
export function* setInSteps<T>(values: readonly T[]): Steps<Set<T>> {
  if (values.length <= roundsOfStep) return new Set(values);
  const set = new Set<T>();
  yield* eachInSteps(values, (value) => set.add(value));
  return set;
}
