import { compareQuantities, quantitySign } from '../../../../base/machinery/values/quantity.js';
import type { PodQOSClass } from './pod.types.js';
import type { PodSpec } from './pod-spec.types.js';

const qosResources = ['cpu', 'memory'] as const;

/**
 * The quality of service of a pod: `Guaranteed` when every container has cpu and memory limits equal to its requests,
 * `BestEffort` when none requests any of them, else `Burstable`.
 */
export function podQosClass(spec: PodSpec): PodQOSClass {
  if (spec.resources?.limits !== undefined || spec.resources?.requests !== undefined) return classOf([spec.resources]);
  const all = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  return classOf(all.map((c) => c.resources));
}

interface Amounts {
  readonly limits?: Readonly<Record<string, string>>;
  readonly requests?: Readonly<Record<string, string>>;
}

function classOf(all: readonly Amounts[]): PodQOSClass {
  let isBestEffort = true;
  let isGuaranteed = true;
  for (const { limits, requests } of all) {
    for (const name of qosResources) {
      const limit = positive(limits?.[name]);
      const request = positive(requests?.[name]);
      if (limit !== undefined || request !== undefined) isBestEffort = false;
      if (limit === undefined || request === undefined || compareQuantities(limit, request) !== 0) isGuaranteed = false;
    }
  }
  return isBestEffort ? 'BestEffort' : isGuaranteed ? 'Guaranteed' : 'Burstable';
}

function positive(value: string | undefined): string | undefined {
  return value !== undefined && quantitySign(value) > 0 ? value : undefined;
}
