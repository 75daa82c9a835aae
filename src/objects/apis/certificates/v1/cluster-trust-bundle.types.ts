import {
  always,
  type Infer,
  kind,
  optional,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const clusterTrustBundleSpec = struct('certificates.v1.ClusterTrustBundleSpec', {
  signerName: optional(1, string),
  trustBundle: required(2, string),
});
export type ClusterTrustBundleSpec = Infer<typeof clusterTrustBundleSpec>;

export const clusterTrustBundle = kind(
  { group: 'certificates', version: 'v1', kind: 'ClusterTrustBundle', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: required(2, clusterTrustBundleSpec),
  },
  { doc: 'Certificates that are trusted in the whole cluster.' },
);
export type ClusterTrustBundle = Infer<typeof clusterTrustBundle>;

export const clusterTrustBundleList = listKind(clusterTrustBundle);
export type ClusterTrustBundleList = Infer<typeof clusterTrustBundleList>;
