import { always, type Infer, kind, list, optional, required, struct } from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { csiDriverSpecFields, volumeLifecycleMode } from '../v1/csi-driver.types.js';

export const csiDriverSpec = struct('storage.v1beta1.CSIDriverSpec', {
  ...csiDriverSpecFields,
  volumeLifecycleModes: optional(3, list(volumeLifecycleMode)),
});
export type CSIDriverSpec = Infer<typeof csiDriverSpec>;

export const csiDriver = kind(
  { group: 'storage', version: 'v1beta1', kind: 'CSIDriver', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: required(2, csiDriverSpec),
  },
  { doc: 'What a storage driver can do and needs.' },
);
export type CSIDriver = Infer<typeof csiDriver>;

export const csiDriverList = listKind(csiDriver);
export type CSIDriverList = Infer<typeof csiDriverList>;
