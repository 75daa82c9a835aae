import { quantityMilliValue, quantityValue } from '../../base/machinery/values/quantity.js';
import type { ContainerRun } from './container-run.js';
import type { PodRunner } from './pod-runner.js';

interface Counter {
  cpuSeconds: number;
  /** When the counter was last brought up to date, in milliseconds since the epoch. */
  at: number;
}

/** The CPU use of containers whose pod sets none. */
const usualCpu = '1m';
const usualMemory = '1Mi';

/** Counts what running containers pretend to use, and shows it as real node agents do. */
export class PretendedUse {
  private readonly counters = new Map<string, Counter>();
  /** CPU seconds that all containers of a node have used, including those that have ended. */
  private readonly totals = new Map<string, number>();

  /** The content of `/metrics/resource` of a node with these pods. */
  text(node: string, pods: Iterable<PodRunner>, now: number): string {
    const cpu: string[] = [];
    const memory: string[] = [];
    let totalCpu = this.totals.get(node) ?? 0;
    let totalMemory = 0;
    for (const { machine } of pods) {
      const { namespace, name, uid } = machine.plan;
      for (const run of machine.running()) {
        const labels = `{container="${run.plan.name}",namespace="${namespace}",pod="${name}"}`;
        const key = `${uid} ${run.plan.name}`;
        const before = this.counters.get(key)?.cpuSeconds ?? 0;
        const counter = this.count(key, run, now);
        const bytes = quantityValue(run.plan.behaviour.memory ?? usualMemory);
        totalCpu += counter.cpuSeconds - before;
        totalMemory += bytes;
        cpu.push(`container_cpu_usage_seconds_total${labels} ${counter.cpuSeconds} ${now}`);
        memory.push(`container_memory_working_set_bytes${labels} ${bytes} ${now}`);
      }
    }
    this.forgetEnded(now);
    this.totals.set(node, totalCpu);
    return [
      '# TYPE container_cpu_usage_seconds_total counter',
      ...cpu,
      '# TYPE container_memory_working_set_bytes gauge',
      ...memory,
      '# TYPE node_cpu_usage_seconds_total counter',
      `node_cpu_usage_seconds_total ${totalCpu} ${now}`,
      '# TYPE node_memory_working_set_bytes gauge',
      `node_memory_working_set_bytes ${totalMemory} ${now}`,
      '# TYPE resource_scrape_error gauge',
      'resource_scrape_error 0',
      '',
    ].join('\n');
  }

  /** Adds the use since the last call, at the present rate: a changed annotation takes effect from the next call on. */
  private count(key: string, { plan, runningSince = 0 }: ContainerRun, now: number): Counter {
    const counter = this.counters.get(key) ?? { cpuSeconds: 0, at: runningSince };
    const seconds = Math.max(0, now - Math.max(counter.at, runningSince)) / 1000;
    counter.cpuSeconds += (seconds * quantityMilliValue(plan.behaviour.cpu ?? usualCpu)) / 1000;
    counter.at = now;
    this.counters.set(key, counter);
    return counter;
  }

  private forgetEnded(now: number): void {
    for (const [key, { at }] of this.counters) if (now - at > forgetMs) this.counters.delete(key);
  }
}

/**
 * How long a counter that is not read is kept, in milliseconds: longer than any regular reader waits between two reads.
 */
const forgetMs = 600_000;
