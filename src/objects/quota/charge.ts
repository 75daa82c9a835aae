import type { ApiObject } from '../../base/machinery/api-object.js';
import { ownValue } from '../../base/machinery/own-value.js';
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  type Quantity,
  quantityOf,
  quantitySign,
  subtractQuantities,
} from '../../base/machinery/values/quantity.js';
import type { ResourceQuota } from '../apis/core/v1/resource-quota.types.js';
import { type Amounts, amountsText } from './amounts.js';
import { countsObject } from './quota-scopes.js';
import type { UsageEvaluator } from './usage-evaluator.js';

/** A write as quotas see it. Objects are in the stored version. */
export interface UsageChange {
  readonly evaluator: UsageEvaluator;
  readonly object: ApiObject;
  /** The object that is replaced; undefined for a new one. */
  readonly old: ApiObject | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** A quota with usage that may be ahead of the stored state. */
export interface QuotaDraft {
  readonly quota: ResourceQuota & ApiObject;
  /** Usage with all charges so far; resources that were not charged yet are missing. */
  readonly used: Map<string, Quantity>;
}

/** The amounts that a write adds to a quota. */
export interface Charge {
  readonly draft: QuotaDraft;
  readonly amounts: Amounts;
}

/** The charges of a write, or the reason for its refusal. */
export type Judgement =
  | { readonly kind: 'fits'; readonly charges: readonly Charge[] }
  | { readonly kind: 'refused'; readonly reason: string };

/** Begins with the stored usage. */
export function draftOf(quota: ResourceQuota & ApiObject): QuotaDraft {
  return { quota, used: new Map() };
}

/**
 * The amounts that a write adds to each of the quotas of its namespace, or the first reason to refuse it. A quota
 * limits a resource once its usage was counted, which shows in its status. Until then it is charged without a limit, so
 * that the count can take into account the writes made while it runs.
 */
export function judge(change: UsageChange, drafts: readonly QuotaDraft[]): Judgement {
  const { evaluator, object, old } = change;
  const counting = drafts.filter(({ quota }) => countsObject(quota.spec, evaluator, object));
  for (const { quota } of counting) {
    // An object that this quota counts already stays as it is.
    if (old !== undefined && countsObject(quota.spec, evaluator, old)) continue;
    const reason = unspecified(evaluator, object, quota);
    if (reason !== undefined) return { kind: 'refused', reason };
  }
  const charges: Charge[] = [];
  const usage = counting.length === 0 ? none : evaluator.usage(object, change.now);
  for (const draft of counting) {
    const amounts = chargeTo(change, draft.quota, usage);
    if (amounts.size === 0) continue;
    const reason = excess(draft, amounts);
    if (reason !== undefined) return { kind: 'refused', reason };
    charges.push({ draft, amounts });
  }
  return { kind: 'fits', charges };
}

/** Adds the charges of a write to the drafts. */
export function take(charges: readonly Charge[]): void {
  for (const { draft, amounts } of charges) {
    for (const [name, amount] of amounts) draft.used.set(name, addQuantities(usedOf(draft, name), amount));
  }
}

/** The quota with the usage of the draft; undefined if nothing was charged. */
export function charged({ quota, used }: QuotaDraft): (ResourceQuota & ApiObject) | undefined {
  if (used.size === 0) return undefined;
  const texts = Object.fromEntries([...used].map(([name, amount]) => [name, formatQuantity(amount)]));
  const all = Object.entries({ ...quota.status.used, ...texts }).sort(([a], [b]) => (a < b ? -1 : 1));
  return { ...quota, status: { ...quota.status, used: Object.fromEntries(all) } };
}

const none: Amounts = new Map();
/** The names that were found for a quota, by evaluator: they are needed several times for each write of a batch. */
const measured = new WeakMap<ResourceQuota, Map<UsageEvaluator, readonly string[]>>();

/** The names of resources in the quota that objects of this kind can use. The quota must not change later. */
export function measuredNames(quota: ResourceQuota, evaluator: UsageEvaluator): readonly string[] {
  const known = measured.get(quota) ?? new Map<UsageEvaluator, readonly string[]>();
  const found = known.get(evaluator);
  if (found !== undefined) return found;
  const { spec, status } = quota;
  const all = new Set([...Object.keys(spec.hard ?? {}), ...Object.keys(status.hard ?? {})]);
  const names = [...all].filter((name) => evaluator.measures(name));
  measured.set(quota, known.set(evaluator, names));
  return names;
}

/** The resource names that the quota limits: those whose usage has been counted. */
function limitedNames(quota: ResourceQuota, evaluator: UsageEvaluator): string[] {
  const { spec, status } = quota;
  return measuredNames(quota, evaluator).filter(
    (name) => ownValue(spec.hard, name) !== undefined && ownValue(status.hard, name) !== undefined,
  );
}

function unspecified(
  evaluator: UsageEvaluator,
  object: ApiObject,
  quota: ResourceQuota & ApiObject,
): string | undefined {
  const limited = limitedNames(quota, evaluator);
  const missing = evaluator.missing?.(object, limited) ?? [];
  if (missing.length > 0) return `failed quota: ${quota.metadata.name}: must specify ${missing.join('; ')}`;
  const unknown = limited.filter((name) => ownValue(quota.status.used, name) === undefined).sort();
  if (unknown.length === 0) return undefined;
  return `status unknown for quota: ${quota.metadata.name}, resources: ${unknown.join(',')}`;
}

/** @param usage of the object */
function chargeTo({ evaluator, old, now }: UsageChange, quota: ResourceQuota, usage: Amounts): Amounts {
  const before = old !== undefined && countsObject(quota.spec, evaluator, old) ? evaluator.usage(old, now) : undefined;
  const amounts = new Map<string, Quantity>();
  for (const name of measuredNames(quota, evaluator)) {
    const amount = usage.get(name);
    if (amount === undefined) continue;
    const known = before?.get(name);
    const more = known === undefined ? amount : subtractQuantities(amount, known);
    if (quantitySign(more) > 0) amounts.set(name, more);
  }
  return amounts;
}

function usedOf({ quota, used }: QuotaDraft, name: string): Quantity {
  return used.get(name) ?? quantityOf(ownValue(quota.status.used, name) ?? '0');
}

function excess(draft: QuotaDraft, amounts: Amounts): string | undefined {
  const { spec, status, metadata } = draft.quota;
  const requested = new Map<string, Quantity>();
  const used = new Map<string, Quantity>();
  const limited = new Map<string, Quantity>();
  for (const [name, amount] of amounts) {
    const limit = ownValue(spec.hard, name);
    if (limit === undefined || ownValue(status.hard, name) === undefined) continue;
    const now = usedOf(draft, name);
    if (compareQuantities(addQuantities(now, amount), limit) <= 0) continue;
    requested.set(name, amount);
    used.set(name, now);
    limited.set(name, quantityOf(limit));
  }
  if (requested.size === 0) return undefined;
  const texts = [requested, used, limited].map(amountsText);
  return `exceeded quota: ${metadata.name}, requested: ${texts[0]}, used: ${texts[1]}, limited: ${texts[2]}`;
}
