import { always, enumOf, type Infer, kind, list, optional, required, struct } from '../../../machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { resourceList } from './resources.types.js';

export const limitType = enumOf('Container', 'PersistentVolumeClaim', 'Pod');
export type LimitType = Infer<typeof limitType>;

export const limitRangeItem = struct('core.v1.LimitRangeItem', {
  type: required(1, limitType),
  max: optional(2, resourceList),
  min: optional(3, resourceList),
  default: optional(4, resourceList),
  defaultRequest: optional(5, resourceList),
  maxLimitRequestRatio: optional(6, resourceList),
});
export type LimitRangeItem = Infer<typeof limitRangeItem>;

export const limitRangeSpec = struct('core.v1.LimitRangeSpec', {
  limits: required(1, list(limitRangeItem)),
});
export type LimitRangeSpec = Infer<typeof limitRangeSpec>;

export const limitRange = kind(
  { group: '', version: 'v1', kind: 'LimitRange', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, limitRangeSpec),
  },
);
export type LimitRange = Infer<typeof limitRange>;

export const limitRangeList = listKind(limitRange);
export type LimitRangeList = Infer<typeof limitRangeList>;
