import {
  always,
  type Infer,
  kind,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const ingressClassParametersReference = struct('networking.v1.IngressClassParametersReference', {
  apiGroup: pointer(1, string, { protoName: 'aPIGroup' }),
  kind: required(2, string),
  name: required(3, string),
  scope: always(4, string, { nullable: true }),
  namespace: pointer(5, string),
});
export type IngressClassParametersReference = Infer<typeof ingressClassParametersReference>;

export const ingressClassSpec = struct('networking.v1.IngressClassSpec', {
  controller: optional(1, string, { doc: 'Name of the controller.' }),
  parameters: pointer(2, ingressClassParametersReference, { doc: 'Object with further settings.' }),
});
export type IngressClassSpec = Infer<typeof ingressClassSpec>;

export const ingressClass = kind(
  { group: 'networking', version: 'v1', kind: 'IngressClass', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, ingressClassSpec),
  },
  { doc: 'Says which controller serves an ingress.' },
);
export type IngressClass = Infer<typeof ingressClass>;

export const ingressClassList = listKind(ingressClass);
export type IngressClassList = Infer<typeof ingressClassList>;
