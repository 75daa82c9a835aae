import { always, bool, type Infer, kind, list, mergedBy, optional, pointer } from '../../../machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { localObjectReference, objectReference } from './reference.types.js';

export const serviceAccount = kind(
  { group: '', version: 'v1', kind: 'ServiceAccount', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    secrets: optional(2, list(objectReference), mergedBy('name')),
    imagePullSecrets: optional(3, list(localObjectReference)),
    automountServiceAccountToken: pointer(4, bool),
  },
);
export type ServiceAccount = Infer<typeof serviceAccount>;

export const serviceAccountList = listKind(serviceAccount);
export type ServiceAccountList = Infer<typeof serviceAccountList>;
