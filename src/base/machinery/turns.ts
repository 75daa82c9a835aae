import { PiecesInTurn } from './pieces-in-turn.js';

/** Work in small steps. Its runner may pause after each step to let other work have its turn. */
export type Steps<T = void> = Generator<undefined, T, undefined>;

/** How long the event loop is blocked before other work gets its turn, in milliseconds (approximately). */
const turnMs = 5;
/**
 * How long work may take before it waits for its first turn, in milliseconds: most work is done by then, and much work
 * may begin in one round of the event loop.
 */
const firstMs = 1;
/** The number of loop rounds in one step. */
const roundsOfStep = 256;

/**
 * The turns of all work in steps of this thread: it continues one piece after the other, mostly one in each round, and
 * for half of the time where other work makes rounds long.
 */
const turns = new PiecesInTurn(() => performance.now(), true);

/** Resolves when long work of this thread may continue, for about {@link turnMs}. */
export function nextTurn(): Promise<void> {
  return turns.turn();
}

/** Runs all steps at once. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Runs the steps in turns with other work, and with other work in steps. */
export async function inTurns<T>(steps: Steps<T>): Promise<T> {
  let longestMs = firstMs;
  for (let began = performance.now(); ; ) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (performance.now() - began < longestMs) continue;
    await nextTurn();
    longestMs = turnMs;
    began = performance.now();
  }
}

/** Calls `visit` for every value, in several steps if there are many. */
export function* eachInSteps<T>(values: Iterable<T>, visit: (value: T) => void): Steps {
  let rounds = 0;
  for (const value of values) {
    visit(value);
    if (++rounds % roundsOfStep === 0) yield;
  }
}

/** The result of `make` for each value, each in a step of its own: for values that may be large. */
export function* mappedInSteps<T, R>(values: readonly T[], make: (value: T, index: number) => R): Steps<R[]> {
  const made: R[] = [];
  for (const [i, value] of values.entries()) {
    made.push(make(value, i));
    yield;
  }
  return made;
}

/** A set of the values, built in several steps if there are many. */
export function* setInSteps<T>(values: readonly T[]): Steps<Set<T>> {
  if (values.length <= roundsOfStep) return new Set(values);
  const set = new Set<T>();
  yield* eachInSteps(values, (value) => set.add(value));
  return set;
}

/** Makes a loop pause between its steps when other work should have its turn. */
export class Turn {
  private began = performance.now();
  private longestMs = firstMs;

  get isOver(): boolean {
    return performance.now() - this.began >= this.longestMs;
  }

  /** Resolves when other work has had its turn. */
  async next(): Promise<void> {
    await nextTurn();
    this.longestMs = turnMs;
    this.began = performance.now();
  }
}
