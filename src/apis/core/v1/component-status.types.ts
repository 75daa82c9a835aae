import {
  always,
  enumOf,
  type Infer,
  kind,
  list,
  mergedBy,
  optional,
  required,
  string,
  struct,
} from '../../../machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { conditionStatus } from './condition-status.types.js';

export const componentConditionType = enumOf('Healthy');
export type ComponentConditionType = Infer<typeof componentConditionType>;

export const componentCondition = struct('core.v1.ComponentCondition', {
  type: required(1, componentConditionType),
  status: required(2, conditionStatus),
  message: optional(3, string),
  error: optional(4, string),
});
export type ComponentCondition = Infer<typeof componentCondition>;

export const componentStatus = kind(
  { group: '', version: 'v1', kind: 'ComponentStatus', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    conditions: optional(2, list(componentCondition), mergedBy('type')),
  },
);
export type ComponentStatus = Infer<typeof componentStatus>;

export const componentStatusList = listKind(componentStatus);
export type ComponentStatusList = Infer<typeof componentStatusList>;
