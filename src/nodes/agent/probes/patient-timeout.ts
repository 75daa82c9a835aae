/** A time limit is waited for in this many steps, of which none is shorter than 100 ms. */
const steps = 20;
const shortestStepMs = 100;

/**
 * A time limit for an answer from a container. While this process gets no processor time it cannot see an answer, however
 * early that came, so such a pause counts for one step at most; and what has arrived by the end is read first.
 */
export class PatientTimeout implements Disposable {
  private readonly controller = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private last: NodeJS.Immediate | undefined;

  constructor(milliseconds: number) {
    this.wait(milliseconds, Math.max(shortestStepMs, milliseconds / steps));
  }

  /** Aborted when the time is up. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Nothing happens any more. */
  [Symbol.dispose](): void {
    clearTimeout(this.timer);
    clearImmediate(this.last);
  }

  private wait(left: number, step: number): void {
    this.timer = setTimeout(
      () => {
        if (left > step) this.wait(left - step, step);
        else this.last = setImmediate(() => this.controller.abort());
      },
      Math.min(left, step),
    );
  }
}
