import {
  always,
  bool,
  bytes,
  type Infer,
  kind,
  map,
  optional,
  pointer,
  string,
} from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const configMap = kind(
  { group: '', version: 'v1', kind: 'ConfigMap', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    immutable: pointer(4, bool, { doc: 'Forbids any change of the contents from now on.' }),
    data: optional(2, map(string), { doc: 'Text values by name.' }),
    binaryData: optional(3, map(bytes), { doc: 'Values by name that are not text, in base64.' }),
  },
  { doc: 'Settings as names and values, for pods and other readers.' },
);
export type ConfigMap = Infer<typeof configMap>;

export const configMapList = listKind(configMap);
export type ConfigMapList = Infer<typeof configMapList>;
