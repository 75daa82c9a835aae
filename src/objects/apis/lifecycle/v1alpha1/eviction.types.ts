import {
  always,
  enumOf,
  type Infer,
  int32,
  int64,
  kind,
  list,
  mergedBy,
  optional,
  pointer,
  required,
  string,
  struct,
  time,
} from '../../../../base/machinery/schema/index.js';
import { condition } from '../../meta/v1/condition.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const evictionPodReference = struct('lifecycle.v1alpha1.EvictionPodReference', {
  name: required(1, string),
  uid: required(2, string),
});
export type EvictionPodReference = Infer<typeof evictionPodReference>;

export const evictionTarget = struct('lifecycle.v1alpha1.EvictionTarget', {
  pod: pointer(1, evictionPodReference),
});
export type EvictionTarget = Infer<typeof evictionTarget>;

export const requester = struct(
  'lifecycle.v1alpha1.Requester',
  {
    name: required(1, string),
    intent: required(2, enumOf('Eviction', 'Withdrawn')),
  },
  { mapType: 'atomic' },
);
export type Requester = Infer<typeof requester>;

export const targetResponder = struct(
  'lifecycle.v1alpha1.TargetResponder',
  {
    name: required(1, string),
    priority: required(2, int32, { nullable: true }),
    state: required(3, enumOf('Active', 'Canceled', 'Completed', 'Inactive', 'Interrupted')),
  },
  { mapType: 'atomic' },
);
export type TargetResponder = Infer<typeof targetResponder>;

export const responderStatus = struct('lifecycle.v1alpha1.ResponderStatus', {
  name: required(1, string),
  startTime: pointer(2, time),
  heartbeatTime: pointer(3, time),
  expectedCompletionTime: pointer(4, time),
  completionTime: pointer(5, time),
  message: pointer(6, string),
});
export type ResponderStatus = Infer<typeof responderStatus>;

export const evictionSpec = struct('lifecycle.v1alpha1.EvictionSpec', {
  target: required(1, evictionTarget),
});
export type EvictionSpec = Infer<typeof evictionSpec>;

export const evictionStatus = struct('lifecycle.v1alpha1.EvictionStatus', {
  conditions: optional(1, list(condition), mergedBy('type')),
  observedGeneration: pointer(2, int64),
  requesters: optional(3, list(requester), mergedBy('name')),
  targetResponders: optional(4, list(targetResponder), mergedBy('name')),
  responders: optional(5, list(responderStatus), mergedBy('name')),
});
export type EvictionStatus = Infer<typeof evictionStatus>;

export const eviction = kind(
  { group: 'lifecycle', version: 'v1alpha1', kind: 'Eviction', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: required(2, evictionSpec),
    status: always(3, evictionStatus),
  },
  { doc: 'How far a pod that others want to go has got.' },
);
export type Eviction = Infer<typeof eviction>;

export const evictionList = listKind(eviction);
export type EvictionList = Infer<typeof evictionList>;
