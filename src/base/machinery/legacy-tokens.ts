import type { VendorNames } from './vendor.js';

/** The ConfigMap of the system namespace with the day since which uses of secret-based tokens are recorded. */
export const trackingMapName = 'kube-apiserver-legacy-service-account-token-tracking';
/** The key in that map, whose value is a day. */
export const trackedSinceKey = 'since';

/** The label of a secret with the day on which its token was last used. */
export function lastUsedLabel({ labelPrefix }: VendorNames): string {
  return `${labelPrefix}/legacy-token-last-used`;
}

/** The label of a secret whose token is no longer valid, with the day since which it has been invalid. */
export function invalidSinceLabel({ labelPrefix }: VendorNames): string {
  return `${labelPrefix}/legacy-token-invalid-since`;
}

/** The day of a time in UTC, as `2026-11-28`. */
export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** The start of a day in milliseconds since 1970; undefined for a string that is not a day. */
export function startOfDay(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const time = Date.parse(`${text}T00:00:00Z`);
  // `Date` reads 31 February as a day in March.
  return Number.isNaN(time) || dayOf(time) !== text ? undefined : time;
}
