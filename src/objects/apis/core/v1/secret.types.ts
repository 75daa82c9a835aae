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
} from '../../../../base/machinery/schema/index.js';
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
    immutable: pointer(5, bool, { doc: 'Forbids any change of the contents from now on.' }),
    data: optional(2, map(bytes), { doc: 'Values by name, in base64.' }),
    stringData: optional(4, map(string), { doc: 'Values as plain text, for writing only; they end up in data.' }),
    type: optional(3, secretType, { doc: 'What the secret is for, and so which names it must have.' }),
  },
  { doc: 'Confidential values for pods and other readers.' },
);
export type Secret = Infer<typeof secret>;

export const secretList = listKind(secret);
export type SecretList = Infer<typeof secretList>;
