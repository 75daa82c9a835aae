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
} from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { conditionStatus } from './condition-status.types.js';

export const componentConditionType = enumOf('Healthy');
export type ComponentConditionType = Infer<typeof componentConditionType>;

export const componentCondition = struct(
  'core.v1.ComponentCondition',
  {
    type: required(1, componentConditionType, { doc: 'Name of the aspect.' }),
    status: required(2, conditionStatus, { doc: 'True, False or Unknown.' }),
    message: optional(3, string, { doc: 'Text for people: why the status is so.' }),
    error: optional(4, string),
  },
  { doc: "One aspect of an object's state." },
);
export type ComponentCondition = Infer<typeof componentCondition>;

export const componentStatus = kind(
  { group: '', version: 'v1', kind: 'ComponentStatus', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    conditions: optional(2, list(componentCondition), {
      ...mergedBy('type'),
      doc: 'Aspects of the state, each with its reason.',
    }),
  },
  { doc: 'State of a part of the cluster. Kept for old clients.' },
);
export type ComponentStatus = Infer<typeof componentStatus>;

export const componentStatusList = listKind(componentStatus);
export type ComponentStatusList = Infer<typeof componentStatusList>;
