import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemTimers } from '../../../base/machinery/timers.js';
import { type ProbedRun, type ProberDependencies, RunProbes } from './run-probes.js';

const readinessProbe = { exec: { command: ['/bin/true'] }, periodSeconds: 1000 };

function probe(
  stopped: AbortSignal,
  exec: ProberDependencies['runtime']['exec'],
  wait: ProberDependencies['timers']['wait'],
) {
  return new RunProbes(
    {
      runtime: { exec },
      timers: { ...systemTimers, wait },
      random: () => 0,
      userAgent: 'test',
      counts: { add: () => undefined } as unknown as ProberDependencies['counts'],
      signal: stopped,
    },
    {
      run: { id: 'c', startedAt: 1e6 * Date.now(), labels: {} },
      container: { name: 'main', readinessProbe },
      address: () => '',
      event: () => undefined,
      changed: () => undefined,
      before: undefined,
    } as unknown as ProbedRun,
  );
}

describe('RunProbes of an agent that stops', () => {
  it('end their wait for the next check, which would keep the process alive', async () => {
    const stop = new AbortController();
    let checks = 0;
    const exec = async () => {
      checks++;
      return { exitCode: 0, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
    };
    const waits: { readonly milliseconds: number; readonly signal: AbortSignal; readonly end: Promise<void> }[] = [];
    let begun: () => void = () => undefined;
    const waiting = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const probes = probe(stop.signal, exec, (milliseconds, signal) => {
      const end = milliseconds === 0 ? Promise.resolve() : systemTimers.wait(milliseconds, signal);
      waits.push({ milliseconds, signal, end });
      if (milliseconds > 0) begun();
      return end;
    });
    try {
      await waiting;
      assert.deepEqual([checks, waits.at(-1)?.milliseconds], [1, 1_000_000]);
      stop.abort();
      assert.equal(waits.at(-1)?.signal.aborted, true);
      await waits.at(-1)?.end;
      assert.equal(checks, 1);
    } finally {
      probes.stop();
    }
  });

  it('let the command end that runs: a runtime that is interrupted while it starts one blocks the pod', async () => {
    const stop = new AbortController();
    const given = Promise.withResolvers<readonly unknown[]>();
    const exec: ProberDependencies['runtime']['exec'] = (...values) => {
      given.resolve(values);
      return new Promise(() => undefined);
    };
    const probes = probe(stop.signal, exec, systemTimers.wait);
    try {
      assert.deepEqual(await given.promise, ['c', ['/bin/true'], 1]);
    } finally {
      probes.stop();
    }
  });
});
