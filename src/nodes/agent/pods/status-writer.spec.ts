import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Timers } from '../../../base/machinery/timers.js';
import type { PodStatus } from '../../../objects/apis/core/v1/pod.types.js';
import type { ApiUser } from '../../connection/api-connection.js';
import { StatusWriter } from './status-writer.js';

/** Time that passes when the test says so, and the writes that the API got. */
class Scene {
  now = 0;
  readonly written: string[] = [];
  readonly writer: StatusWriter;
  private readonly waits: { readonly at: number; readonly end: () => void }[] = [];

  constructor() {
    const timers: Timers = {
      now: () => this.now,
      elapsed: () => this.now,
      wait: (milliseconds) => new Promise((end) => void this.waits.push({ at: this.now + milliseconds, end })),
    };
    const api = {
      send: async (_method: string, _path: string, { body }: { body: { status: PodStatus } }) => {
        this.written.push(body.status.phase ?? '');
        return {};
      },
    } as unknown as ApiUser;
    const logger = { debug: () => undefined } as never;
    this.writer = new StatusWriter({
      ...{ api, timers, logger, signal: new AbortController().signal },
      onGone: () => undefined,
    });
    this.writer.aim({ namespace: 'default', name: 'p', uid: 'u' });
  }

  async pass(milliseconds: number): Promise<void> {
    this.now += milliseconds;
    for (const { at, end } of this.waits.splice(0)) {
      if (at <= this.now) end();
      else this.waits.push({ at, end });
    }
    await turn();
  }
}

const status = (phase: string) => ({ phase, containerStatuses: [] }) as unknown as PodStatus;

it('StatusWriter repeats what others overwrite at once, and then every ten seconds at most', async () => {
  const scene = new Scene();
  scene.writer.set(status('Running'));
  await turn();
  assert.equal(scene.written.length, 1);
  scene.writer.contradict();
  await turn();
  assert.equal(scene.written.length, 2, 'the first answer');
  // Another writer overwrites the status every 100 ms, for a minute.
  for (let round = 0; round < 600; round++) {
    scene.writer.contradict();
    await scene.pass(100);
  }
  assert.equal(scene.written.length, 8);
  // News of the node's own do not wait.
  scene.writer.set(status('Succeeded'));
  await turn();
  assert.equal(scene.written.at(-1), 'Succeeded');
});
