import { dig, listAt, textAt } from './dig.js';
import { amountOf } from './problems.js';

/** What usage is measured against; 0 where there is nothing. */
export interface UsageLimits {
  readonly name: string;
  /** In cores. */
  readonly cpu: number;
  /** In bytes. */
  readonly memory: number;
}

/** The capacity of a node for pods; for a pod, the limits of its containers, or else their requests. */
export function limitsOf(resource: string, object: unknown): UsageLimits | undefined {
  if (resource === 'nodes') return allocatableOf([object]);
  const containers = listAt(object, 'spec', 'containers');
  for (const [field, name] of [
    ['limits', 'limit'],
    ['requests', 'requested'],
  ] as const) {
    const total = (of: string) => {
      const amounts = containers.map((container) => amountOf(textAt(container, 'resources', field, of)));
      // A container without a limit makes the pod one without.
      return amounts.every((amount) => amount > 0) ? amounts.reduce((sum, each) => sum + each, 0) : 0;
    };
    const limits = { name, cpu: total('cpu'), memory: total('memory') };
    if (limits.cpu > 0 || limits.memory > 0) return limits;
  }
  return undefined;
}

/** What several nodes have for pods. */
export function allocatableOf(nodes: readonly unknown[]): UsageLimits | undefined {
  const total = (of: string) =>
    nodes.reduce<number>((sum, node) => sum + (amountOf(textAt(dig(node, 'status', 'allocatable'), of)) || 0), 0);
  const limits = { name: 'allocatable', cpu: total('cpu'), memory: total('memory') };
  return limits.cpu > 0 || limits.memory > 0 ? limits : undefined;
}
