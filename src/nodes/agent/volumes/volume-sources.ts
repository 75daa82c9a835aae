import type { LabelSelectorObject } from '../../../base/machinery/label-selector.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { KeyToPath } from '../../../objects/apis/core/v1/source-selector.types.js';
import type {
  DownwardAPIVolumeFile,
  PodCertificateProjection,
  VolumeProjection,
} from '../../../objects/apis/core/v1/volume.types.js';
import type { EnvironmentReader } from '../containers/environment.js';
import { type AddressFields, podFieldValue, resourceFieldValue } from '../containers/field-values.js';
import type { ProjectedFile } from './atomic-writer.js';
import { VolumeProblem } from './volume-problem.js';

/** The readers that provide the content of volumes. */
export interface SourceInput extends AddressFields {
  readonly pod: Pod;
  readonly objects: EnvironmentReader;
  readonly allocatable: Readonly<Record<string, string>>;
  /** A token of the pod's service account, bound to the pod. */
  readonly token: (audience: string, expirationSeconds: number) => Promise<string>;
  /** The certificates of trust bundles in PEM; undefined: there are none. */
  readonly trustBundle: (source: TrustBundleSource) => Promise<string | undefined>;
  /** The certificate of the pod for a source. @throws VolumePending until a signer has issued it */
  readonly certificate: (source: PodCertificateProjection) => Promise<PodCredentials>;
}

/** A private key in PEM (PKCS #8) and the certificates that a signer issued for it. */
export interface PodCredentials {
  readonly privateKey: string;
  readonly chain: string;
}

/** One bundle by its name, or all of a signer whose labels match: without a selector none, with an empty one all. */
export type TrustBundleSource =
  | { readonly name: string }
  | { readonly signerName: string; readonly labelSelector: LabelSelectorObject | undefined };

type Files = Map<string, ProjectedFile>;

const defaultFileMode = 0o644;
const defaultTokenSeconds = 3600;

/** The files of a ConfigMap or a Secret. */
export async function entriesOf(
  { pod, objects }: SourceInput,
  kind: 'configmap' | 'secret',
  name: string,
  { items, optional }: { readonly items?: readonly KeyToPath[] | null; readonly optional?: boolean | null },
  mode: number = defaultFileMode,
): Promise<Files> {
  const namespace = pod.metadata.namespace ?? '';
  const entries = await readEntries(objects, kind, namespace, name);
  const files: Files = new Map();
  if (entries === undefined) {
    if (optional) return files;
    throw new VolumeProblem(`${kind} "${name}" not found`);
  }
  if (!items || items.length === 0) {
    for (const [key, content] of entries) files.set(key, { content, mode });
    return files;
  }
  for (const { key, path, mode: own } of items) {
    const content = entries.get(key);
    if (content !== undefined) files.set(path, { content, mode: own ?? mode });
    else if (!optional) throw new VolumeProblem(`references non-existent ${kind} key: ${key}`);
  }
  return files;
}

async function readEntries(objects: EnvironmentReader, kind: 'configmap' | 'secret', namespace: string, name: string) {
  if (kind === 'secret') {
    const secret = await objects.secret(namespace, name);
    return (
      secret && new Map(Object.entries(secret.data ?? {}).map(([key, text]) => [key, Buffer.from(text, 'base64')]))
    );
  }
  const map = await objects.configMap(namespace, name);
  if (map === undefined) return undefined;
  return new Map([
    ...Object.entries(map.data ?? {}).map(([key, text]): [string, Buffer] => [key, Buffer.from(text)]),
    ...Object.entries(map.binaryData ?? {}).map(([key, text]): [string, Buffer] => [key, Buffer.from(text, 'base64')]),
  ]);
}

/** Files with fields of the pod. */
export function downwardFiles(
  input: SourceInput,
  items: readonly DownwardAPIVolumeFile[] | null | undefined,
  mode: number = defaultFileMode,
): Files {
  const files: Files = new Map();
  for (const { path, fieldRef, resourceFieldRef, mode: own } of items ?? []) {
    files.set(path, { content: Buffer.from(downwardText(input, fieldRef, resourceFieldRef)), mode: own ?? mode });
  }
  return files;
}

function downwardText(
  input: SourceInput,
  fieldRef: DownwardAPIVolumeFile['fieldRef'],
  resourceFieldRef: DownwardAPIVolumeFile['resourceFieldRef'],
): string {
  const { pod, allocatable } = input;
  if (fieldRef) return podFieldValue(pod, fieldRef.fieldPath, input);
  if (!resourceFieldRef) return '';
  const { containerName, resource, divisor } = resourceFieldRef;
  const all = [...(pod.spec.containers ?? []), ...(pod.spec.initContainers ?? [])];
  const container = all.find(({ name }) => name === containerName);
  if (container === undefined) throw new VolumeProblem(`container ${containerName} not found`);
  return resourceFieldValue(container, resource, divisor, allocatable);
}

/** The files of one source of a projected volume. */
export async function projectedFiles(
  input: SourceInput,
  source: VolumeProjection,
  mode: number | undefined,
): Promise<Files> {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source;
  if (configMap) return entriesOf(input, 'configmap', configMap.name ?? '', configMap, mode);
  if (secret) return entriesOf(input, 'secret', secret.name ?? '', secret, mode);
  if (downwardAPI) return downwardFiles(input, downwardAPI.items, mode);
  if (serviceAccountToken) {
    const { audience = '', expirationSeconds, path } = serviceAccountToken;
    const token = await input.token(audience, Number(expirationSeconds ?? defaultTokenSeconds));
    return new Map([[path, { content: Buffer.from(token), ...tokenAccess(input.pod, mode) }]]);
  }
  if (clusterTrustBundle) {
    const { name, signerName, labelSelector, optional, path } = clusterTrustBundle;
    const bundle = await input.trustBundle(
      name ? { name } : { signerName: signerName ?? '', labelSelector: labelSelector ?? undefined },
    );
    if (bundle === undefined && !optional) throw new VolumeProblem('the cluster trust bundle was not found');
    return new Map([[path, { content: Buffer.from(bundle ?? ''), mode: mode ?? defaultFileMode }]]);
  }
  if (podCertificate) {
    const { privateKey, chain } = await input.certificate(podCertificate);
    const contents = [
      [podCertificate.credentialBundlePath, `${privateKey}${chain}`],
      [podCertificate.keyPath, privateKey],
      [podCertificate.certificateChainPath, chain],
    ] as const;
    const access = tokenAccess(input.pod, mode);
    return new Map(
      contents.flatMap(([path, text]) => (path ? [[path, { content: Buffer.from(text), ...access }] as const] : [])),
    );
  }
  throw new VolumeProblem('a projected volume has a source that this node does not support');
}

/**
 * The mode of a file with a token or a key: readable by the user of the containers if all run as the same one, otherwise by the group
 * of the volume.
 */
function tokenAccess({ spec }: Pod, mode: number | undefined): { mode: number; owner?: number } {
  const shared = spec.securityContext ?? {};
  const users = new Set(
    [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(
      ({ securityContext }) => securityContext?.runAsUser ?? shared.runAsUser ?? undefined,
    ),
  );
  const [user] = users;
  const owner = users.size === 1 && user !== undefined ? { owner: Number(user) } : {};
  const hasGroup = shared.fsGroup !== undefined && shared.fsGroup !== null;
  return { mode: hasGroup || 'owner' in owner ? 0o600 : (mode ?? defaultFileMode), ...owner };
}
