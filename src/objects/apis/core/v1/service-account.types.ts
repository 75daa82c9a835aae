import {
  always,
  bool,
  type Infer,
  kind,
  list,
  mergedBy,
  optional,
  pointer,
} from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { localObjectReference, objectReference } from './reference.types.js';

export const serviceAccount = kind(
  { group: '', version: 'v1', kind: 'ServiceAccount', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    secrets: optional(2, list(objectReference), {
      ...mergedBy('name'),
      doc: 'Secrets that pods of this account may use.',
    }),
    imagePullSecrets: optional(3, list(localObjectReference), {
      doc: 'Secrets with the credentials for pulling images.',
    }),
    automountServiceAccountToken: pointer(4, bool, { doc: 'Whether pods get a token of the account as a file.' }),
  },
  { doc: 'An identity for what runs in pods.' },
);
export type ServiceAccount = Infer<typeof serviceAccount>;

export const serviceAccountList = listKind(serviceAccount);
export type ServiceAccountList = Infer<typeof serviceAccountList>;
