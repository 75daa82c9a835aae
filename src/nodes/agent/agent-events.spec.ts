import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Timers } from '../../base/machinery/timers.js';
import type { ApiUser } from '../connection/api-connection.js';
import { ApiError } from '../connection/api-error.js';
import { AgentEvents } from './agent-events.js';

interface Sent {
  readonly method: string;
  readonly path: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the agent sends
  readonly body: any;
  readonly atMs: number;
}

/** An API that keeps what it gets, and a clock that jumps to the end of each wait. */
class Scene {
  readonly sent: Sent[] = [];
  readonly stop = new AbortController();
  /** What happens to the next requests: an error, or nothing. */
  readonly failures: Error[] = [];
  now = Date.parse('2030-01-01T00:00:00Z');
  readonly start = this.now;
  readonly events: AgentEvents;

  constructor(limits = { perSecond: 5, burst: 10 }) {
    const timers: Timers = {
      now: () => this.now,
      elapsed: () => this.now,
      wait: async (milliseconds) => {
        this.now += milliseconds;
      },
    };
    const send = async (method: string, path: string, { body }: { readonly body: object }) => {
      const failure = this.failures.shift();
      if (failure !== undefined) throw failure;
      this.sent.push({ method, path, body, atMs: this.now - this.start });
    };
    this.events = new AgentEvents({
      api: { send } as unknown as ApiUser,
      ...{ component: 'agent', node: 'a', timers, signal: this.stop.signal },
      ...limits,
    });
  }

  record(message: string): void {
    this.events.record({ kind: 'Pod', namespace: 'n', name: 'p', uid: 'u' }, 'Normal', 'Started', message);
  }

  async settle(): Promise<void> {
    for (let before = -1; before !== this.sent.length; await turn()) before = this.sent.length;
  }
}

describe('AgentEvents', () => {
  it('leaves out the end of a message that is longer than anybody reads', async () => {
    const scene = new Scene();
    for (let i = 0; i < 3; i++) scene.record(`name ${'x'.repeat(1_000_000)}${i}`);
    await scene.settle();
    const [first, ...others] = scene.sent;
    assert.equal(others.length, 0, 'what differs is not there');
    assert.match(first?.body.message, /^name x{8187}…$/);
    assert.equal(first?.body.count, 3);
  });

  it('lets events above the limit wait, and writes when they happened', async () => {
    const scene = new Scene();
    for (let i = 0; i < 20; i++) scene.record(`event ${i}`);
    await scene.settle();
    assert.deepEqual(
      scene.sent.map(({ body }) => body.message),
      Array.from({ length: 20 }, (_, i) => `event ${i}`),
    );
    assert.equal(scene.sent[9]?.atMs, 0);
    assert.equal(Math.round(scene.sent[19]?.atMs ?? 0), 2_000);
    assert.equal(scene.sent[19]?.body.firstTimestamp, '2030-01-01T00:00:00Z');
  });

  it('counts repetitions, also of events that wait', async () => {
    const scene = new Scene({ perSecond: 0, burst: 0 });
    for (let i = 0; i < 3; i++) scene.record('same');
    await scene.settle();
    scene.record('same');
    await scene.settle();
    assert.deepEqual(
      scene.sent.map(({ method, body }) => [method, body.count]),
      [
        ['POST', 3],
        ['PATCH', 4],
      ],
    );
    assert.ok(scene.sent[1]?.path.endsWith(scene.sent[0]?.body.metadata.name));
  });

  it('tries again while the API is away, and gives up what it refuses', async () => {
    const scene = new Scene();
    scene.failures.push(new Error('connect ECONNREFUSED'), new ApiError(503, '', 'not ready'));
    scene.record('late');
    await scene.settle();
    assert.deepEqual([scene.sent.length, scene.sent[0]?.atMs], [1, 20_000]);
    scene.failures.push(new ApiError(403, 'Forbidden', 'the namespace is being deleted'));
    scene.record('refused');
    scene.record('fine');
    await scene.settle();
    assert.deepEqual(
      scene.sent.map(({ body }) => body.message),
      ['late', 'fine'],
    );
  });

  it('makes an event anew whose first one has expired', async () => {
    const scene = new Scene();
    scene.record('again');
    await scene.settle();
    scene.failures.push(new ApiError(404, 'NotFound', 'not found'));
    scene.record('again');
    await scene.settle();
    assert.deepEqual(
      scene.sent.map(({ method, body }) => [method, body.count]),
      [
        ['POST', 1],
        ['POST', 1],
      ],
    );
    assert.notEqual(scene.sent[0]?.body.metadata.name, scene.sent[1]?.body.metadata.name);
  });

  it('drops events while a thousand wait', async () => {
    const scene = new Scene({ perSecond: 0, burst: 0 });
    for (let i = 0; i < 1_200; i++) scene.record(`event ${i}`);
    await scene.settle();
    assert.equal(scene.sent.length, 1_000);
  });
});
