import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemTimers } from '../../../base/machinery/timers.js';
import type { PodManager } from '../pod-manager.js';
import { endPods } from './end-pods.js';

interface Wish {
  readonly priority?: number;
  readonly ownSeconds: number;
  /** How long after its kill the pod is over, and how long after that the API knows. */
  readonly overMs?: number;
  readonly writtenMs?: number;
}

/** Pods that only their kill ends, on a clock that goes on by waits alone. */
class Scene {
  private now = 0;
  readonly graces: number[] = [];
  private readonly workers;

  constructor(wishes: readonly Wish[]) {
    this.workers = wishes.map(({ priority = 0, ownSeconds, overMs = 300, writtenMs = 300 }) => {
      let overAt = Number.POSITIVE_INFINITY;
      const now = () => this.now;
      return {
        isStatic: false,
        isEnding: false,
        declaration: { spec: { terminationGracePeriodSeconds: ownSeconds, priority } },
        get isOver() {
          return now() >= overAt;
        },
        writer: {
          get isWritten() {
            return now() >= overAt + writtenMs;
          },
        },
        fail: (_end: object, seconds: number) => {
          this.graces.push(seconds);
          overAt = this.now + seconds * 1000 + overMs;
        },
      };
    });
  }

  /** Ends the pods, and returns how many milliseconds that took. */
  async end(...graces: readonly (readonly [priority: number, graceMs: number])[]): Promise<number> {
    const began = this.now;
    const wait = async (milliseconds: number) => {
      this.now += milliseconds;
    };
    await endPods(
      { workersOf: () => this.workers } as unknown as PodManager,
      graces.map(([priority, graceMs]) => ({ priority, graceMs })),
      { ...systemTimers, elapsed: () => this.now, wait },
    );
    return this.now - began;
  }

  get areReported(): boolean {
    return this.workers.every(({ isOver, writer }) => isOver && writer.isWritten);
  }
}

describe('the end of all pods', () => {
  it('comes as soon as they are over and reported', async () => {
    const scene = new Scene([{ ownSeconds: 1 }, { ownSeconds: 3 }]);
    assert.equal(await scene.end([0, 20_000]), 3600);
    assert.deepEqual(scene.graces, [1, 3]);
    assert.equal(scene.areReported, true);
  });

  it('lets those report that are killed when the time is over', async () => {
    const scene = new Scene([{ ownSeconds: 30 }, { ownSeconds: 30, priority: 2e9 }]);
    assert.equal(await scene.end([0, 4000], [2e9, 2000]), 6600);
    assert.deepEqual(scene.graces, [4, 2]);
    assert.equal(scene.areReported, true);
  });

  it('does not wait for a pod that never ends', async () => {
    const scene = new Scene([{ ownSeconds: 1, overMs: Number.POSITIVE_INFINITY }, { ownSeconds: 1 }]);
    assert.equal(await scene.end([0, 5000]), 7000);
    assert.equal(scene.areReported, false);
  });
});
