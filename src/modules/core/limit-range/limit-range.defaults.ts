import { roundResources } from '../../../objects/apis/core/v1/defaults/resources.defaults.js';
import type { LimitRange } from '../../../objects/apis/core/v1/limit-range.types.js';

/**
 * Fills in defaults for containers: the default limit is the maximum. The default request is the default limit, or else
 * the minimum.
 */
export function applyLimitRangeDefaults(object: LimitRange): void {
  for (const item of object.spec.limits ?? []) {
    for (const list of [item.max, item.min, item.default, item.defaultRequest, item.maxLimitRequestRatio]) {
      roundResources(list);
    }
    if (item.type !== 'Container') continue;
    const limits = { ...item.max, ...item.default };
    const requests = { ...item.min, ...limits, ...item.defaultRequest };
    if (Object.keys(limits).length > 0) item.default = limits;
    if (Object.keys(requests).length > 0) item.defaultRequest = requests;
  }
}
