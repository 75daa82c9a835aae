import { always, type Infer, kind, required } from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { csiNodeSpec, csiNodeStatus } from '../v1/csi-node.types.js';

export const csiNode = kind(
  { group: 'storage', version: 'v1beta1', kind: 'CSINode', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: required(2, csiNodeSpec),
    status: always(3, csiNodeStatus),
  },
  { doc: 'The storage drivers of a node.' },
);
export type CSINode = Infer<typeof csiNode>;

export const csiNodeList = listKind(csiNode);
export type CSINodeList = Infer<typeof csiNodeList>;
