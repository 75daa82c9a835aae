import { containerKey } from '../../base/machinery/node-usage.js';
import type { Steps } from '../../base/machinery/turns.js';

/** The counters of a machine or container at one time. */
export interface Counters {
  /** CPU time in seconds since the counter began. */
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The counters that an agent reports at one time. */
export interface Reading {
  readonly node: Counters | undefined;
  /** Counters of containers by {@link containerKey}. */
  readonly containers: ReadonlyMap<string, Counters>;
}

type Part = { cpu?: number; memory?: number; at?: number };

/** Matches `name{labels} value time`: labels and time may be missing. */
const line = /^([a-z_]+)(?:\{([^}]*)\})? (\S+)(?: (\d+))?$/;
/** Matches a label. Names of objects and containers contain no characters that would be escaped. */
const label = /(\w+)="([^"\\]*)"/g;
const linesOfStep = 200;

const fields: Readonly<Record<string, 'cpu' | 'memory'>> = {
  container_cpu_usage_seconds_total: 'cpu',
  container_memory_working_set_bytes: 'memory',
  node_cpu_usage_seconds_total: 'cpu',
  node_memory_working_set_bytes: 'memory',
};

/**
 * Reads the output of `/metrics/resource` of a node agent, in steps. Lines that can't be read are skipped.
 *
 * @param now the time for values without a time
 */
export function* readResourceMetrics(text: string, now: number): Steps<Reading> {
  const node: Part = {};
  const parts = new Map<string, Part>();
  let lines = 0;
  for (let begin = 0; begin < text.length; ) {
    const found = text.indexOf('\n', begin);
    const end = found < 0 ? text.length : found;
    take(text.slice(begin, end), node, parts);
    begin = end + 1;
    if (++lines % linesOfStep === 0) yield;
  }
  const containers = new Map<string, Counters>();
  for (const [key, part] of parts) {
    const counters = countersOf(part, now);
    if (counters !== undefined) containers.set(key, counters);
  }
  return { node: countersOf(node, now), containers };
}

function take(text: string, node: Part, parts: Map<string, Part>): void {
  if (text === '' || text.startsWith('#') || text.length > 2048) return;
  const [, name = '', labels = '', valueText = '', time] = line.exec(text) ?? [];
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  const value = Number(valueText);
  if (field === undefined || !Number.isFinite(value) || value < 0) return;
  let part = node;
  if (name.startsWith('container_')) {
    const { namespace, pod, container } = Object.fromEntries(
      [...labels.matchAll(label)].map(([, key, own]) => [key, own]),
    );
    if (!namespace || !pod || !container) return;
    const key = containerKey(namespace, pod, container);
    part = parts.get(key) ?? {};
    parts.set(key, part);
  }
  part[field] = value;
  if (time !== undefined) part.at = Number(time);
}

function countersOf({ cpu, memory, at }: Part, now: number): Counters | undefined {
  return cpu === undefined || memory === undefined
    ? undefined
    : { cpuSeconds: cpu, memoryBytes: memory, at: at ?? now };
}
