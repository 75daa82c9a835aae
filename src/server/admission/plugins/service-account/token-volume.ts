import type { VendorNames } from '../../../../base/machinery/vendor.js';
import type { Container } from '../../../../objects/apis/core/v1/container.types.js';
import type { PodSpec } from '../../../../objects/apis/core/v1/pod-spec.types.js';
import type { Volume } from '../../../../objects/apis/core/v1/volume.types.js';
import { generateName } from '../../../../objects/registry/metadata/generate-name.js';

/** One hour and seven seconds: nodes recognize tokens requested through this volume by the odd lifetime. */
const tokenSeconds = 3607;
const fileMode = 0o644;

/**
 * Mounts a volume with a token of the pod's service account, the CA certificates of the API and the pod's namespace in
 * every container that has nothing at the mount path (specification 5.3). Uses an existing volume if its name marks it
 * as a token volume. Changes `spec`.
 */
export function mountToken(
  spec: PodSpec,
  { serviceAccountMountPath: path, tokenVolumePrefix: prefix, rootAuthorityMap }: VendorNames,
): void {
  const needy = [...(spec.initContainers ?? []), ...(spec.containers ?? [])].filter(
    ({ volumeMounts }) => volumeMounts?.some(({ mountPath }) => mountPath === path) !== true,
  );
  if (needy.length === 0) return;
  const existing = spec.volumes?.find(({ name }) => name.startsWith(prefix))?.name;
  const name = existing ?? generateName(prefix);
  for (const container of needy) mount(container, name, path);
  if (existing === undefined) spec.volumes = [...(spec.volumes ?? []), tokenVolume(name, rootAuthorityMap)];
}

function mount(container: Container, name: string, mountPath: string): void {
  container.volumeMounts = [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath }];
}

function tokenVolume(name: string, authorityMap: string): Volume {
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: tokenSeconds, path: 'token' } },
        { configMap: { name: authorityMap, items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
      defaultMode: fileMode,
    },
  };
}
