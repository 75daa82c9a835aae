import {
  always,
  bool,
  bytes,
  enumOf,
  type Infer,
  kind,
  map,
  optional,
  pointer,
  string,
} from '../../../machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const secretType = enumOf(
  'Opaque',
  'bootstrap.kubernetes.io/token',
  'kubernetes.io/basic-auth',
  'kubernetes.io/dockercfg',
  'kubernetes.io/dockerconfigjson',
  'kubernetes.io/service-account-token',
  'kubernetes.io/ssh-auth',
  'kubernetes.io/tls',
);
export type SecretType = Infer<typeof secretType>;

export const secret = kind(
  { group: '', version: 'v1', kind: 'Secret', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    immutable: pointer(5, bool),
    data: optional(2, map(bytes)),
    stringData: optional(4, map(string)),
    type: optional(3, secretType),
  },
);
export type Secret = Infer<typeof secret>;

export const secretList = listKind(secret);
export type SecretList = Infer<typeof secretList>;
