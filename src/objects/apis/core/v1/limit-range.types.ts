import {
  always,
  enumOf,
  type Infer,
  kind,
  list,
  optional,
  required,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { resourceList } from './resources.types.js';

export const limitType = enumOf('Container', 'PersistentVolumeClaim', 'Pod');
export type LimitType = Infer<typeof limitType>;

export const limitRangeItem = struct(
  'core.v1.LimitRangeItem',
  {
    type: required(1, limitType, { doc: 'Pod, Container or PersistentVolumeClaim.' }),
    max: optional(2, resourceList, { doc: 'The most.' }),
    min: optional(3, resourceList, { doc: 'The least.' }),
    default: optional(4, resourceList, { doc: 'Limit of what has none.' }),
    defaultRequest: optional(5, resourceList, { doc: 'Request of what has none.' }),
    maxLimitRequestRatio: optional(6, resourceList, { doc: 'Largest ratio of limit to request.' }),
  },
  { doc: 'Bounds of one type of thing.' },
);
export type LimitRangeItem = Infer<typeof limitRangeItem>;

export const limitRangeSpec = struct('core.v1.LimitRangeSpec', {
  limits: required(1, list(limitRangeItem), { doc: 'Bounds by type.' }),
});
export type LimitRangeSpec = Infer<typeof limitRangeSpec>;

export const limitRange = kind(
  { group: '', version: 'v1', kind: 'LimitRange', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, limitRangeSpec),
  },
  { doc: 'Bounds and defaults for resources in a namespace.' },
);
export type LimitRange = Infer<typeof limitRange>;

export const limitRangeList = listKind(limitRange);
export type LimitRangeList = Infer<typeof limitRangeList>;
