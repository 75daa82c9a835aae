import {
  always,
  type Infer,
  kind,
  microTime,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const leaseCandidateSpec = struct('coordination.v1beta1.LeaseCandidateSpec', {
  leaseName: required(1, string),
  pingTime: pointer(2, microTime),
  renewTime: pointer(3, microTime),
  binaryVersion: required(4, string),
  emulationVersion: optional(5, string),
  strategy: optional(6, string),
});
export type LeaseCandidateSpec = Infer<typeof leaseCandidateSpec>;

export const leaseCandidate = kind(
  { group: 'coordination', version: 'v1beta1', kind: 'LeaseCandidate', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, leaseCandidateSpec),
  },
  { doc: 'Offers to hold a lease, with the versions of the program that offers.' },
);
export type LeaseCandidate = Infer<typeof leaseCandidate>;

export const leaseCandidateList = listKind(leaseCandidate);
export type LeaseCandidateList = Infer<typeof leaseCandidateList>;
