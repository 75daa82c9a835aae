import {
  always,
  bool,
  type Infer,
  int32,
  kind,
  optional,
  pointer,
  string,
} from '../../../../base/machinery/schema/index.js';
import { preemptionPolicy } from '../../core/v1/pod-spec.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const priorityClass = kind(
  { group: 'scheduling', version: 'v1', kind: 'PriorityClass', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    value: always(2, int32, { doc: 'Higher is more important.' }),
    globalDefault: optional(3, bool, { doc: 'Whether pods without a class get this one.' }),
    description: optional(4, string, { doc: 'When to use this class.' }),
    preemptionPolicy: pointer(5, preemptionPolicy, { doc: 'Whether less important pods may be removed.' }),
  },
  { doc: 'Says how important pods are.' },
);
export type PriorityClass = Infer<typeof priorityClass>;

export const priorityClassList = listKind(priorityClass);
export type PriorityClassList = Infer<typeof priorityClassList>;
