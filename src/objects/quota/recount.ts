import type { ApiObject } from '../../base/machinery/api-object.js';
import { ownValue } from '../../base/machinery/own-value.js';
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  type Quantity,
  quantitySign,
  subtractQuantities,
} from '../../base/machinery/values/quantity.js';
import type { ResourceQuota, ResourceQuotaStatus } from '../apis/core/v1/resource-quota.types.js';
import type { Amounts } from './amounts.js';

type Quota = ResourceQuota & ApiObject;

/**
 * The correct status of a quota, or undefined if its status is correct already.
 *
 * Every charge is written together with its object, so at any version the difference between what is used and what the
 * status says only comes from objects that changed without a charge (deletions, pods that ended). Charges after the
 * count do not change the difference: it can be corrected in a later state of the quota.
 *
 * @param live the quota to correct
 * @param counted the quota at the version of the count
 * @param actual what was used at that version
 */
export function correctedStatus(live: Quota, counted: Quota, actual: Amounts): ResourceQuotaStatus | undefined {
  const hard = live.spec.hard ?? {};
  const used: Record<string, string> = {};
  for (const name of Object.keys(hard).sort()) used[name] = correctedText(live, counted, name, actual.get(name));
  const isRight = sameAmounts(live.status.hard, hard) && sameAmounts(live.status.used, used);
  return isRight ? undefined : { hard: { ...hard }, used };
}

function correctedText(live: Quota, counted: Quota, name: string, actual: Quantity | undefined): string {
  const count = actual ?? '0';
  const before = ownValue(counted.status.used, name) ?? '0';
  const now = ownValue(live.status.used, name) ?? '0';
  if (compareQuantities(before, now) === 0) return formatQuantity(addQuantities(count, '0'));
  const corrected = addQuantities(now, subtractQuantities(count, before));
  return quantitySign(corrected) < 0 ? '0' : formatQuantity(corrected);
}

function sameAmounts(a: Readonly<Record<string, string>> | undefined, b: Readonly<Record<string, string>>): boolean {
  const names = Object.keys(b);
  if (Object.keys(a ?? {}).length !== names.length) return false;
  return names.every((name) => {
    const value = ownValue(a, name);
    return value !== undefined && compareQuantities(value, b[name] as string) === 0;
  });
}

/**
 * Whether one state of a quota may follow from another by charges alone: nothing else changed, and no usage went down.
 */
export function isOnlyCharged(before: Quota, after: Quota): boolean {
  if (before.metadata.uid !== after.metadata.uid) return false;
  if (!sameAmounts(before.spec.hard, after.spec.hard ?? {})) return false;
  if (!sameAmounts(before.status.hard, after.status.hard ?? {})) return false;
  const names = Object.keys({ ...before.status.used, ...after.status.used });
  return names.every((name) => {
    const value = ownValue(after.status.used, name);
    return value !== undefined && compareQuantities(ownValue(before.status.used, name) ?? '0', value) <= 0;
  });
}
