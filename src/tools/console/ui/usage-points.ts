import { entriesAt, listAt, textAt } from './dig.js';
import { amountOf } from './problems.js';

/** What was used at a time: processors in cores, memory in bytes. */
export interface UsagePoint {
  /** In milliseconds since 1970. */
  readonly time: number;
  readonly cpu: number;
  readonly memory: number;
}

/** How often usage is read, in milliseconds. */
export const usageStepMs = 15_000;
const keptMs = 3_600_000;

/**
 * The usage of a node or, as the sum of its containers, of a pod; undefined for anything other than a metrics object.
 */
export function usageOf(metrics: unknown, now: number): UsagePoint | undefined {
  const containers = listAt(metrics, 'containers');
  const all = containers.length > 0 ? containers : [metrics];
  const total = (resource: string) =>
    all.reduce<number>((sum, each) => sum + amountOf(textAt(each, 'usage', resource) || '0'), 0);
  const [cpu, memory] = [total('cpu'), total('memory')];
  if (!Number.isFinite(cpu) || !Number.isFinite(memory)) return undefined;
  if (containers.length === 0 && entriesAt(metrics, 'usage').length === 0) return undefined;
  const measured = Date.parse(textAt(metrics, 'timestamp'));
  return { time: Number.isNaN(measured) ? now : Math.min(measured, now), cpu, memory };
}

/** The sum of several, at the time of the newest. */
export function totalUsage(points: readonly UsagePoint[]): UsagePoint | undefined {
  if (points.length === 0) return undefined;
  return {
    time: Math.max(...points.map(({ time }) => time)),
    cpu: points.reduce((sum, { cpu }) => sum + cpu, 0),
    memory: points.reduce((sum, { memory }) => sum + memory, 0),
  };
}

/** The points of the last hour with a new one; a measurement that was there already is not added again. */
export function withPoint(points: readonly UsagePoint[], point: UsagePoint): readonly UsagePoint[] {
  const last = points.at(-1);
  if (last !== undefined && point.time <= last.time) return points;
  return [...points.filter(({ time }) => time > point.time - keptMs), point];
}
