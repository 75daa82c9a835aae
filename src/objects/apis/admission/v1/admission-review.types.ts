import {
  always,
  bool,
  bytes,
  enumOf,
  type Infer,
  kind,
  list,
  map,
  optional,
  pointer,
  rawExtension,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { userInfo } from '../../authentication/v1/token-review.types.js';
import { groupVersionKind, groupVersionResource } from '../../meta/v1/group-version.types.js';
import { status } from '../../meta/v1/status.types.js';

export const operation = enumOf('CONNECT', 'CREATE', 'DELETE', 'UPDATE');
export type Operation = Infer<typeof operation>;

export const admissionRequest = struct('admission.v1.AdmissionRequest', {
  uid: always(1, string),
  kind: always(2, groupVersionKind),
  resource: always(3, groupVersionResource),
  subResource: optional(4, string),
  requestKind: pointer(13, groupVersionKind),
  requestResource: pointer(14, groupVersionResource),
  requestSubResource: optional(15, string),
  name: optional(5, string),
  namespace: optional(6, string),
  operation: always(7, operation),
  userInfo: always(8, userInfo),
  object: always(9, rawExtension),
  oldObject: always(10, rawExtension),
  dryRun: pointer(11, bool),
  options: always(12, rawExtension),
});
export type AdmissionRequest = Infer<typeof admissionRequest>;

export const patchType = enumOf('JSONPatch');
export type PatchType = Infer<typeof patchType>;

export const admissionResponse = struct('admission.v1.AdmissionResponse', {
  uid: always(1, string),
  allowed: always(2, bool),
  status: pointer(3, status),
  patch: optional(4, bytes),
  patchType: pointer(5, patchType),
  auditAnnotations: optional(6, map(string)),
  warnings: optional(7, list(string)),
});
export type AdmissionResponse = Infer<typeof admissionResponse>;

export const admissionReview = kind(
  { group: 'admission', version: 'v1', kind: 'AdmissionReview' },
  {
    request: pointer(1, admissionRequest),
    response: pointer(2, admissionResponse),
  },
  { doc: 'Question to a webhook, and its answer.' },
);
export type AdmissionReview = Infer<typeof admissionReview>;
