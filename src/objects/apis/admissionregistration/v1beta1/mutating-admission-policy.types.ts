import { always, type Infer, kind } from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import {
  mutatingAdmissionPolicyBindingSpec,
  mutatingAdmissionPolicySpec,
} from '../v1/mutating-admission-policy.types.js';

export const mutatingAdmissionPolicy = kind(
  { group: 'admissionregistration', version: 'v1beta1', kind: 'MutatingAdmissionPolicy', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, mutatingAdmissionPolicySpec),
  },
  { doc: 'Rules in CEL that may change objects.' },
);
export type MutatingAdmissionPolicy = Infer<typeof mutatingAdmissionPolicy>;

export const mutatingAdmissionPolicyBinding = kind(
  { group: 'admissionregistration', version: 'v1beta1', kind: 'MutatingAdmissionPolicyBinding', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, mutatingAdmissionPolicyBindingSpec),
  },
  { doc: 'Puts a mutating policy into force.' },
);
export type MutatingAdmissionPolicyBinding = Infer<typeof mutatingAdmissionPolicyBinding>;

export const mutatingAdmissionPolicyBindingList = listKind(mutatingAdmissionPolicyBinding);
export type MutatingAdmissionPolicyBindingList = Infer<typeof mutatingAdmissionPolicyBindingList>;

export const mutatingAdmissionPolicyList = listKind(mutatingAdmissionPolicy);
export type MutatingAdmissionPolicyList = Infer<typeof mutatingAdmissionPolicyList>;
