import {
  always,
  enumOf,
  type Infer,
  int64,
  kind,
  list,
  mergedBy,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { condition } from '../../meta/v1/condition.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const evictionRequestPodReference = struct('lifecycle.v1alpha1.EvictionRequestPodReference', {
  name: required(1, string),
  uid: required(2, string),
});
export type EvictionRequestPodReference = Infer<typeof evictionRequestPodReference>;

export const evictionRequestTarget = struct('lifecycle.v1alpha1.EvictionRequestTarget', {
  pod: pointer(1, evictionRequestPodReference),
});
export type EvictionRequestTarget = Infer<typeof evictionRequestTarget>;

export const evictionRequestSpec = struct('lifecycle.v1alpha1.EvictionRequestSpec', {
  target: required(1, evictionRequestTarget),
  requester: required(2, string),
  intent: required(3, enumOf('Eviction', 'Withdrawn')),
});
export type EvictionRequestSpec = Infer<typeof evictionRequestSpec>;

export const evictionRequestStatus = struct('lifecycle.v1alpha1.EvictionRequestStatus', {
  conditions: optional(1, list(condition), mergedBy('type')),
  observedGeneration: pointer(2, int64),
});
export type EvictionRequestStatus = Infer<typeof evictionRequestStatus>;

export const evictionRequest = kind(
  { group: 'lifecycle', version: 'v1alpha1', kind: 'EvictionRequest', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: required(2, evictionRequestSpec),
    status: always(3, evictionRequestStatus),
  },
  { doc: 'Asks to make a pod go, and says who asks.' },
);
export type EvictionRequest = Infer<typeof evictionRequest>;

export const evictionRequestList = listKind(evictionRequest);
export type EvictionRequestList = Infer<typeof evictionRequestList>;
