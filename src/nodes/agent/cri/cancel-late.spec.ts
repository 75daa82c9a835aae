import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { grpcCodes } from '../grpc/grpc-connection.js';
import { GrpcError } from '../grpc/grpc-error.js';
import { cancelLate } from './cancel-late.js';

/** A call that ends when the test says so, and a clock that the test moves. */
class Scene {
  readonly stop = new AbortController();
  private readonly outcome = Promise.withResolvers<string>();
  private now = 0;
  private due: { readonly at: number; readonly callback: () => void } | undefined;
  cancelled: AbortSignal | undefined;
  readonly answer: Promise<string>;

  constructor() {
    this.answer = cancelLate(
      (cancelled) => {
        this.cancelled = cancelled;
        return this.outcome.promise;
      },
      this.stop.signal,
      {
        elapsed: () => this.now,
        after: (milliseconds, callback) => {
          this.due = { at: this.now + milliseconds, callback };
          return () => {
            this.due = undefined;
          };
        },
      },
    );
  }

  pass(milliseconds: number): void {
    this.now += milliseconds;
    if (this.due !== undefined && this.due.at <= this.now) this.due.callback();
  }

  end(): void {
    this.outcome.resolve('done');
  }

  get waits(): boolean {
    return this.due !== undefined;
  }
}

const isGivenUp = (error: unknown) => error instanceof GrpcError && error.code === grpcCodes.canceled;

describe('a command that is given up', () => {
  it('answers at once, and its call is cancelled when it must have started', async () => {
    const scene = new Scene();
    scene.pass(1000);
    scene.stop.abort();
    await assert.rejects(scene.answer, isGivenUp);
    scene.pass(28_000);
    assert.equal(scene.cancelled?.aborted, false);
    scene.pass(1000);
    assert.equal(scene.cancelled?.aborted, true);
  });

  it('is cancelled at once when it has run for long', async () => {
    const scene = new Scene();
    scene.pass(60_000);
    scene.stop.abort();
    scene.pass(0);
    assert.equal(scene.cancelled?.aborted, true);
    await assert.rejects(scene.answer, isGivenUp);
  });

  it('is not cancelled when it ends by itself', async () => {
    const scene = new Scene();
    scene.stop.abort();
    await assert.rejects(scene.answer, isGivenUp);
    scene.end();
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual([scene.waits, scene.cancelled?.aborted], [false, false]);
  });

  it('answers as the call does if nobody gives it up', async () => {
    const scene = new Scene();
    scene.end();
    assert.equal(await scene.answer, 'done');
    scene.stop.abort();
    assert.deepEqual([scene.waits, scene.cancelled?.aborted], [false, false]);
  });
});
