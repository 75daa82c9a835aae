import {
  compareQuantities,
  formatQuantity,
  type Quantity,
  quantitySign,
  scaledQuantity,
} from '../../../../base/machinery/values/quantity.js';
import type { LimitRange, LimitRangeItem } from '../../../../objects/apis/core/v1/limit-range.types.js';
import type { PersistentVolumeClaim } from '../../../../objects/apis/core/v1/persistent-volume-claim.types.js';
import type { Pod } from '../../../../objects/apis/core/v1/pod.types.js';
import type { ResourceList } from '../../../../objects/apis/core/v1/resources.types.js';
import { type Amounts } from '../../../../objects/quota/amounts.js';
import { amountsOf, podTotals } from '../../../../objects/quota/pod-resources.js';

/** The exponent of nano, the smallest unit of quantities. */
const finestScale = -9;

/** Returns how an object violates a range, as human-readable messages without duplicates. */
export type LimitCheck = (range: LimitRange) => string[];

/** The requests and limits of a container or a pod. */
interface Resources {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

/** Returns a function that checks the pod against a range. The amounts of the pod are read once for all ranges. */
export function podLimitCheck({ spec }: Pod): LimitCheck {
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ resources }) => ({
    requests: amountsOf(resources?.requests),
    limits: amountsOf(resources?.limits),
  }));
  const own = { ...spec, overhead: {} };
  const pod = [{ requests: podTotals(own, 'requests'), limits: podTotals(own, 'limits') }];
  return (range) => {
    const problems: string[] = [];
    for (const item of range.spec.limits ?? []) {
      if (item.type === 'Container') check(item, containers, problems);
      else if (item.type === 'Pod') check(item, pod, problems);
    }
    return [...new Set(problems)];
  };
}

/** Returns a function that checks the claim against a range. */
export function claimLimitCheck({ spec }: PersistentVolumeClaim): LimitCheck {
  const requests = amountsOf(spec.resources?.requests);
  return (range) => claimProblems(requests, range);
}

function claimProblems(requests: Amounts, range: LimitRange): string[] {
  const problems: string[] = [];
  for (const item of range.spec.limits ?? []) {
    if (item.type !== 'PersistentVolumeClaim') continue;
    for (const [name, bound] of sorted(item.min)) {
      const request = requests.get(name);
      if (request === undefined) problems.push(`${least(name, item, bound)}.  No request is specified`);
      else if (compareQuantities(request, bound) < 0)
        problems.push(`${least(name, item, bound)}, but request is ${show(request)}`);
    }
    for (const [name, bound] of sorted(item.max)) {
      const request = requests.get(name);
      if (request === undefined) problems.push(`${most(name, item, bound)}.  No request is specified`);
      else if (compareQuantities(request, bound) > 0)
        problems.push(`${most(name, item, bound)}, but request is ${show(request)}`);
    }
  }
  return [...new Set(problems)];
}

/** The error message for one or several problems. */
export function problemsText(problems: readonly string[]): string {
  return problems.length === 1 ? (problems[0] as string) : `[${problems.join(', ')}]`;
}

function check(item: LimitRangeItem, checked: readonly Resources[], problems: string[]): void {
  const [min, max, ratios] = [sorted(item.min), sorted(item.max), sorted(item.maxLimitRequestRatio)];
  for (const { requests, limits } of checked) {
    for (const [name, bound] of min) checkLeast(item, name, bound, requests.get(name), limits.get(name), problems);
    for (const [name, bound] of max) checkMost(item, name, bound, requests.get(name), limits.get(name), problems);
    for (const [name, ratio] of ratios) {
      const problem = ratioProblem(ratio, requests.get(name), limits.get(name));
      if (problem === undefined) continue;
      problems.push(`${name} max limit to request ratio per ${item.type} is ${ratio}, but ${problem}`);
    }
  }
}

function checkLeast(
  item: LimitRangeItem,
  name: string,
  bound: string,
  request: Quantity | undefined,
  limit: Quantity | undefined,
  problems: string[],
): void {
  const text = least(name, item, bound);
  if (request === undefined) problems.push(`${text}.  No request is specified`);
  else if (compareQuantities(request, bound) < 0) problems.push(`${text}, but request is ${show(request)}`);
  else if (limit !== undefined && compareQuantities(limit, bound) < 0)
    problems.push(`${text}, but limit is ${show(limit)}`);
}

function checkMost(
  item: LimitRangeItem,
  name: string,
  bound: string,
  request: Quantity | undefined,
  limit: Quantity | undefined,
  problems: string[],
): void {
  const text = most(name, item, bound);
  if (limit === undefined) problems.push(`${text}.  No limit is specified`);
  else if (compareQuantities(limit, bound) > 0) problems.push(`${text}, but limit is ${show(limit)}`);
  else if (request !== undefined && compareQuantities(request, bound) > 0) {
    problems.push(`${text}, but request is ${show(request)}`);
  }
}

function ratioProblem(ratio: string, request: Quantity | undefined, limit: Quantity | undefined): string | undefined {
  if (request === undefined || quantitySign(request) === 0) return 'no request is specified or request is 0';
  if (limit === undefined || quantitySign(limit) === 0) return 'no limit is specified or limit is 0';
  const [r, l] = [scaledQuantity(request, finestScale), scaledQuantity(limit, finestScale)];
  if (l * 10n ** 9n <= r * scaledQuantity(ratio, finestScale)) return undefined;
  return `provided ratio is ${(Number(l) / Number(r)).toFixed(6)}`;
}

function least(name: string, { type }: LimitRangeItem, bound: string): string {
  return `minimum ${name} usage per ${type} is ${bound}`;
}

function most(name: string, { type }: LimitRangeItem, bound: string): string {
  return `maximum ${name} usage per ${type} is ${bound}`;
}

function show(amount: Quantity): string {
  return formatQuantity(amount);
}

function sorted(amounts: ResourceList | undefined): [string, string][] {
  return Object.entries(amounts ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
}
