import { always, bool, type Infer, int32, kind, optional, pointer, string } from '../../../machinery/schema/index.js';
import { preemptionPolicy } from '../../core/v1/pod-spec.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const priorityClass = kind(
  { group: 'scheduling', version: 'v1', kind: 'PriorityClass', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    value: always(2, int32),
    globalDefault: optional(3, bool),
    description: optional(4, string),
    preemptionPolicy: pointer(5, preemptionPolicy),
  },
);
export type PriorityClass = Infer<typeof priorityClass>;

export const priorityClassList = listKind(priorityClass);
export type PriorityClassList = Infer<typeof priorityClassList>;
