import type { Api } from './api.js';
import type { ApiObject } from './yaml-text.js';

/** How far back an object's state is looked for, at most, in milliseconds. */
const mostBackMs = 3 * 60 * 60_000;

/**
 * A time at which an object was not being deleted yet, in milliseconds since 1970, shortly before it was.
 *
 * @param deletedVersion the version at which it was removed
 * @param seen when the browser learned of it, by the browser's clock, which may differ from that of the server
 * @throws ApiFault when the user may not look into the past, or it does not reach back that far
 */
export async function timeBefore(
  api: Pick<Api, 'json'>,
  { deletionTimestamp, deletionGracePeriodSeconds }: ApiObject['metadata'],
  deletedVersion: string,
  seen: number,
): Promise<number> {
  // The time of a graceful deletion is that of its end. It is cut to whole seconds.
  const asked = Date.parse(deletionTimestamp ?? '') - 1000 * Number(deletionGracePeriodSeconds ?? 0) - 1;
  const from = Number.isNaN(asked) ? seen : asked;
  for (let back = 0; ; back = Math.max(1000, back * 2)) {
    const at = encodeURIComponent(new Date(from - back).toISOString());
    const { resourceVersion } = await api.json<{ readonly resourceVersion: string }>(`/history/version?at=${at}`);
    if (back > mostBackMs || !/^\d+$/.test(deletedVersion) || BigInt(resourceVersion) < BigInt(deletedVersion)) {
      return from - back;
    }
  }
}
