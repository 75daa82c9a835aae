import type { StoredDeviceClaim } from './device-objects.js';

/** How long devices may take to be prepared before others are tried, in milliseconds. */
export const longestBindingMs = 600_000;

/** Whether the devices of a claim are prepared for its pods. */
export type BindingState =
  | { readonly state: 'ready' | 'waiting' }
  | { readonly state: 'failed'; readonly message: string };

/** Reads the conditions that the devices of a claim have to meet before a pod is bound. */
export function bindingState({ metadata, status }: StoredDeviceClaim): BindingState {
  for (const result of status.allocation?.devices.results ?? []) {
    const { driver, pool, device, bindingConditions = [], bindingFailureConditions = [] } = result;
    if (bindingConditions.length === 0) continue;
    const reported = status.devices?.find(
      (each) => each.driver === driver && each.pool === pool && each.device === device,
    );
    if (reported === undefined) return { state: 'waiting' };
    const isTrue = (name: string) =>
      (reported.conditions ?? []).some((condition) => condition.type === name && condition.status === 'True');
    const failed = bindingFailureConditions.find(isTrue);
    if (failed !== undefined) {
      const { reason, message } = (reported.conditions ?? []).find(({ type }) => type === failed) ?? {};
      return {
        state: 'failed',
        message: `device binding failed: claim=${metadata.name}, reason=${reason}, message=${JSON.stringify(message)}`,
      };
    }
    if (!bindingConditions.every(isTrue)) return { state: 'waiting' };
  }
  return { state: 'ready' };
}

/** Whether the devices of a claim take too long. */
export function isBindingLate({ status: { allocation } }: StoredDeviceClaim, now: number): boolean {
  const since = allocation?.allocationTimestamp;
  if (!since || !(allocation?.devices.results ?? []).some(({ bindingConditions }) => bindingConditions !== undefined)) {
    return false;
  }
  return Date.parse(since) + longestBindingMs < now;
}
