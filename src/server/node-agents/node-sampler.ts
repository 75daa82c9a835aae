import type { MeasurableNode, MeasuredNode, NodeUsage, Usage } from '../../base/machinery/node-usage.js';
import { errorText } from '../../base/machinery/startup-error.js';
import type { Timers } from '../../base/machinery/timers.js';
import { inTurns } from '../../base/machinery/turns.js';
import type { NodeAgents } from './node-agents.js';
import { readAnswer } from './read-answer.js';
import type { ReadNode } from './read-node.js';
import { type Counters, type Reading, readResourceMetrics } from './read-resource-metrics.js';

/** Measurements are not repeated within this time. */
const freshMs = 15_000;
/** A measurement that failed or found nothing is repeated after this time. */
const retryMs = 3_000;
/**
 * Readings older than this are not used as the start of a measurement, since usage at that time says nothing about the
 * current one.
 */
const oldestMs = 120_000;
/** Time between the two readings of a node's first measurement. */
const firstWindowMs = 1_000;
const answerMs = 10_000;
const mostBytes = 8 * 1024 * 1024;
/** Maximum number of nodes that are read at the same time. */
const mostAtOnce = 64;
const forgetMs = 600_000;

interface Sampled {
  /** When the measurement began, on a monotonic clock. */
  readonly begunAt: number;
  readonly work: Promise<MeasuredNode | undefined>;
  reading: Reading | undefined;
  readAt: number;
  freshUntil: number;
}

export interface SamplerDependencies {
  readonly agents: Pick<NodeAgents, 'addressOf' | 'client'>;
  readonly timers: Timers;
  readonly logger: { debug(text: string, fields?: object): void };
}

/**
 * Measures nodes by two readings of their agents' counters. Nodes are read only on demand: the first measurement of a
 * node takes a second, and each later one compares with the previous reading. Concurrent requests share the
 * measurements.
 */
export class NodeSampler implements NodeUsage {
  private readonly known = new Map<string, Sampled>();
  private readonly stopping = new AbortController();

  constructor(private readonly dependencies: SamplerDependencies) {}

  stop(): void {
    this.stopping.abort();
  }

  async of(nodes: readonly MeasurableNode[], signal: AbortSignal): Promise<ReadonlyMap<string, MeasuredNode>> {
    this.forgetOld();
    const found = new Map<string, MeasuredNode>();
    const left = nodes.values();
    const worker = async () => {
      for (const node of left) {
        signal.throwIfAborted();
        const name = node.metadata.name ?? '';
        const measured = await untilAbort(this.sample(name, node), signal);
        if (measured !== undefined) found.set(name, measured);
      }
    };
    await Promise.all(Array.from({ length: Math.min(mostAtOnce, nodes.length) }, worker));
    return found;
  }

  private sample(name: string, node: MeasurableNode): Promise<MeasuredNode | undefined> {
    const now = this.dependencies.timers.elapsed();
    const known = this.known.get(name);
    if (known !== undefined && now < known.freshUntil) return known.work;
    const before = known?.reading !== undefined && now - known.readAt < oldestMs ? known.reading : undefined;
    const sampled: { -readonly [K in keyof Sampled]: Sampled[K] } = {
      begunAt: now,
      work: Promise.resolve(undefined),
      reading: before,
      readAt: known?.readAt ?? now,
      freshUntil: Number.POSITIVE_INFINITY,
    };
    sampled.work = this.measure(node as ReadNode, before, sampled).catch((error: unknown) => {
      this.dependencies.logger.debug('could not measure the use of a node', { node: name, error: errorText(error) });
      sampled.freshUntil = this.dependencies.timers.elapsed() + retryMs;
      return undefined;
    });
    this.known.set(name, sampled);
    return sampled.work;
  }

  private async measure(node: ReadNode, known: Reading | undefined, sampled: Sampled): Promise<MeasuredNode> {
    const { timers } = this.dependencies;
    let before = known;
    if (before === undefined) {
      before = await this.read(node);
      await timers.wait(firstWindowMs, this.stopping.signal);
    }
    const after = await this.read(node);
    const now = timers.elapsed();
    const measured = usageBetween(before, after);
    // Agents that rarely update their counters may report the same values again: in that case the older reading remains
    // the start.
    const hasMoved = measured.total !== undefined || measured.containers.size > 0;
    sampled.reading = hasMoved ? after : before;
    sampled.readAt = now;
    sampled.freshUntil = now + (hasMoved ? freshMs : retryMs);
    return measured;
  }

  private async read(node: ReadNode): Promise<Reading> {
    const { agents, timers } = this.dependencies;
    const signal = AbortSignal.any([this.stopping.signal, AbortSignal.timeout(answerMs)]);
    const answer = await agents.client.get(agents.addressOf(node), '/metrics/resource', false, signal);
    if (answer.statusCode !== 200) {
      answer.destroy();
      throw new Error(`the node agent answered ${answer.statusCode}`);
    }
    const text = await readAnswer(answer, mostBytes);
    return inTurns(readResourceMetrics(text, timers.now()));
  }

  private forgetOld(): void {
    const now = this.dependencies.timers.elapsed();
    for (const [name, { readAt, freshUntil }] of this.known) {
      if (freshUntil < now && now - readAt > forgetMs) this.known.delete(name);
    }
  }
}

/** The usage between two readings, without containers that restarted in between. */
function usageBetween(before: Reading, after: Reading): MeasuredNode {
  const containers = new Map<string, Usage>();
  for (const [key, counters] of after.containers) {
    const usage = rate(before.containers.get(key), counters);
    if (usage !== undefined) containers.set(key, usage);
  }
  return { total: rate(before.node, after.node), containers };
}

function rate(before: Counters | undefined, after: Counters | undefined): Usage | undefined {
  if (before === undefined || after === undefined) return undefined;
  const windowMs = after.at - before.at;
  const seconds = after.cpuSeconds - before.cpuSeconds;
  if (windowMs <= 0 || seconds < 0) return undefined;
  return { cpuNanoCores: (seconds / windowMs) * 1e12, memoryBytes: after.memoryBytes, at: after.at, windowMs };
}

async function untilAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let leave: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    leave = () => reject(signal.reason as Error);
    signal.addEventListener('abort', leave, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
