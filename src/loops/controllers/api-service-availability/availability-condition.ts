import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { APIService } from '../../../objects/apis/apiregistration/v1/api-service.types.js';
import type { Availability } from '../../../server/aggregation/availability.js';

/** An APIService as the informers and clients of controllers return it. */
export type StoredApiService = APIService & ApiObject;

/** Whether the status already has the desired condition Available. */
export function isStated({ status }: APIService, wanted: Availability): boolean {
  const found = status?.conditions?.find(({ type }) => type === 'Available');
  return found?.status === wanted.status && found.reason === wanted.reason && found.message === wanted.message;
}

/** The APIService with the condition Available; `now` is the present time as an RFC 3339 string. */
export function withAvailability(live: StoredApiService, availability: Availability, now: string): StoredApiService {
  const others = (live.status?.conditions ?? []).filter(({ type }) => type !== 'Available');
  const before = live.status?.conditions?.find(({ type }) => type === 'Available');
  const lastTransitionTime = before?.status === availability.status ? before.lastTransitionTime : now;
  const conditions = [...others, { type: 'Available', lastTransitionTime, ...availability }];
  return { ...live, status: { ...live.status, conditions } };
}
