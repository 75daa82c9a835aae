import {
  always,
  type Infer,
  kind,
  list,
  map,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { toleration } from '../../core/v1/affinity.types.js';
import { resourceList } from '../../core/v1/resources.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const overhead = struct('node.v1.Overhead', {
  podFixed: optional(1, resourceList),
});
export type Overhead = Infer<typeof overhead>;

export const scheduling = struct('node.v1.Scheduling', {
  nodeSelector: optional(1, map(string), { mapType: 'atomic', doc: 'Labels that a node must have.' }),
  tolerations: optional(2, list(toleration)),
});
export type Scheduling = Infer<typeof scheduling>;

export const runtimeClass = kind(
  { group: 'node', version: 'v1', kind: 'RuntimeClass', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    handler: required(2, string, { doc: "Name of the runtime's settings on nodes." }),
    overhead: pointer(3, overhead, { doc: 'What the runtime itself needs.' }),
    scheduling: pointer(4, scheduling, { doc: 'Nodes that have the runtime.' }),
  },
  { doc: 'A container runtime that pods can choose.' },
);
export type RuntimeClass = Infer<typeof runtimeClass>;

export const runtimeClassList = listKind(runtimeClass);
export type RuntimeClassList = Infer<typeof runtimeClassList>;
