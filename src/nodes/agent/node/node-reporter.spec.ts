import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { vendorNames } from '../../../base/machinery/vendor.js';
import { Logger } from '../../../base/observability/logger.js';
import type { ApiUser } from '../../connection/api-connection.js';
import { NodeReporter } from './node-reporter.js';
import type { NodeStatusCondition, ReportedNodeState } from './node-status.js';

const leaseMs = 20_000;
const lookMs = 7_000;

/** Pauses that a test ends. */
class Pauses {
  private readonly all: { readonly ms: number; readonly end: () => void }[] = [];

  wait(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        this.all.splice(this.all.indexOf(pause), 1);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const pause = { ms, end };
      this.all.push(pause);
      if (signal.aborted) end();
      else signal.addEventListener('abort', end);
    });
  }

  has(ms: number): boolean {
    return this.all.some((pause) => pause.ms === ms);
  }

  end(ms: number): void {
    this.all.find((pause) => pause.ms === ms)?.end();
  }
}

/** Lets everything go on that waits for nothing but promises. */
async function until(check: () => boolean, what: string): Promise<void> {
  for (let i = 0; i < 1000 && !check(); i++) await new Promise((resolve) => setImmediate(resolve));
  assert.ok(check(), what);
}

/** A node agent's reporter, the Node as it reports it, and what keeps it from being ready. */
function scene() {
  const pauses = new Pauses();
  const seen = { problems: [] as string[], elapsed: 0, leases: 0 };
  let node = { metadata: { name: 'node', uid: 'uid' }, status: {} as { conditions?: NodeStatusCondition[] } };
  const api = {
    send: async (method: string, path: string, { body }: { body?: { status: object } } = {}) => {
      if (path.includes('/leases')) seen.leases++;
      else if (method !== 'GET' && body !== undefined) node = { ...node, status: body.status };
      return node;
    },
  };
  const state = () =>
    ({
      ...{ machine: {}, capacity: {}, allocatable: {}, addresses: ['192.0.2.1'], nodeName: 'node', hostname: 'node' },
      ...{ port: 0, runtimeVersion: '', agentVersion: '', handlers: [], images: [], pressures: new Set() },
      problems: seen.problems,
    }) as unknown as ReportedNodeState;
  const reporter = new NodeReporter({
    ...{ api: api as unknown as ApiUser, names: vendorNames('plinth', 'kubernetes'), nodeName: 'node', labels: {} },
    ...{ taints: [], registers: true, unschedulable: false, leaseMs, lookMs, reportMs: 300_000 },
    ...{ state: async () => state(), events: { record: () => undefined } as never, onNode: () => undefined },
    timers: {
      now: () => 0,
      elapsed: () => seen.elapsed,
      wait: (ms: number, signal: AbortSignal) => pauses.wait(ms, signal),
    },
    logger: new Logger('error', 'json'),
  });
  const isReady = () => node.status.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
  return { reporter, pauses, seen, isReady };
}

describe('the reporter of a node', () => {
  it('reports a changed status at once, also after the lease was renewed', async () => {
    const { reporter, pauses, seen, isReady } = scene();
    const stopping = new AbortController();
    const running = reporter.run(stopping.signal, () => undefined);
    await until(() => isReady() && pauses.has(lookMs) && pauses.has(leaseMs / 4), 'both wait');
    pauses.end(leaseMs / 4);
    await until(() => seen.leases === 2 && pauses.has(leaseMs / 4), 'the lease is renewed');
    seen.problems = ['node is shutting down'];
    reporter.changed();
    await until(() => !isReady(), 'the status is reported without a further pause');
    stopping.abort();
    await running;
  });

  it('reports what changes all the time once a second', async () => {
    const { reporter, pauses, seen, isReady } = scene();
    const stopping = new AbortController();
    const running = reporter.run(stopping.signal, () => undefined);
    await until(() => isReady() && pauses.has(lookMs), 'it waits');
    const change = (...problems: readonly string[]) => {
      seen.problems = [...problems];
      reporter.changed();
    };
    change('first');
    await until(() => !isReady(), 'the first change is reported at once');
    await until(() => pauses.has(500) || pauses.has(lookMs), 'it waits again');
    change();
    await until(() => pauses.has(1000), 'the next one has to wait');
    assert.equal(isReady(), false);
    change('third');
    change();
    pauses.end(1000);
    await until(() => isReady(), 'the last state is reported');
    await until(() => pauses.has(lookMs), 'it waits again');
    seen.elapsed = 1000;
    change('later');
    await until(() => !isReady(), 'a later change is reported at once');
    stopping.abort();
    await running;
  });

  it('looks often until a new node is ready, and as usual from then on', async () => {
    const { reporter, pauses, seen, isReady } = scene();
    seen.problems = ['container runtime network not ready'];
    const stopping = new AbortController();
    const running = reporter.run(stopping.signal, () => undefined);
    await until(() => pauses.has(500), 'the next look is soon');
    seen.problems = [];
    pauses.end(500);
    await until(() => isReady() && pauses.has(lookMs), 'the next look is as usual');
    seen.problems = ['container runtime is down'];
    pauses.end(lookMs);
    await until(() => pauses.has(500), 'a new node that is lost again looks soon');
    seen.elapsed = 120_000;
    pauses.end(500);
    await until(() => pauses.has(lookMs), 'an old one does not');
    stopping.abort();
    await running;
  });
});
