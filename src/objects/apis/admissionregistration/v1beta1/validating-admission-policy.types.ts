import { always, type Infer, kind } from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import {
  validatingAdmissionPolicyBindingSpec,
  validatingAdmissionPolicySpec,
  validatingAdmissionPolicyStatus,
} from '../v1/validating-admission-policy.types.js';

export const validatingAdmissionPolicy = kind(
  { group: 'admissionregistration', version: 'v1beta1', kind: 'ValidatingAdmissionPolicy', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, validatingAdmissionPolicySpec),
    status: always(3, validatingAdmissionPolicyStatus),
  },
  { doc: 'Rules in CEL that may refuse requests.' },
);
export type ValidatingAdmissionPolicy = Infer<typeof validatingAdmissionPolicy>;

export const validatingAdmissionPolicyBinding = kind(
  { group: 'admissionregistration', version: 'v1beta1', kind: 'ValidatingAdmissionPolicyBinding', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, validatingAdmissionPolicyBindingSpec),
  },
  { doc: 'Puts a validating policy into force.' },
);
export type ValidatingAdmissionPolicyBinding = Infer<typeof validatingAdmissionPolicyBinding>;

export const validatingAdmissionPolicyBindingList = listKind(validatingAdmissionPolicyBinding);
export type ValidatingAdmissionPolicyBindingList = Infer<typeof validatingAdmissionPolicyBindingList>;

export const validatingAdmissionPolicyList = listKind(validatingAdmissionPolicy);
export type ValidatingAdmissionPolicyList = Infer<typeof validatingAdmissionPolicyList>;
