import type { ApiObject } from '../../base/machinery/api-object.js';
import { formatLabelSelector } from '../../base/machinery/label-selector.js';
import type { Timers } from '../../base/machinery/timers.js';
import { groupName, type VendorNames } from '../../base/machinery/vendor.js';
import { encodePem, readPem } from '../../base/machinery/x509/pem.js';
import type { ClusterTrustBundle } from '../../objects/apis/certificates/v1/cluster-trust-bundle.types.js';
import type { ConfigMap } from '../../objects/apis/core/v1/config-map.types.js';
import type { PersistentVolume } from '../../objects/apis/core/v1/persistent-volume.types.js';
import type { PersistentVolumeClaim } from '../../objects/apis/core/v1/persistent-volume-claim.types.js';
import type { Pod } from '../../objects/apis/core/v1/pod.types.js';
import type { Secret } from '../../objects/apis/core/v1/secret.types.js';
import type { Volume } from '../../objects/apis/core/v1/volume.types.js';
import type { CSIDriver } from '../../objects/apis/storage/v1/csi-driver.types.js';
import type { ApiUser } from '../connection/api-connection.js';
import { ApiError } from '../connection/api-error.js';
import type { EnvironmentReader } from './containers/environment.js';
import type { ResolvedClaim } from './volumes/pod-volumes.js';
import { VolumePending } from './volumes/volume-pending.js';
import { VolumeProblem } from './volumes/volume-problem.js';
import type { TrustBundleSource } from './volumes/volume-sources.js';

/** Pods that start at the same time share one read of an object, but never see a state older than this. */
const freshMs = 100;
/** An object that no pod has requested for this long is forgotten. Running pods request theirs once a minute. */
const rememberedMs = 600_000;

interface Kept {
  readonly at: number;
  readonly object: Promise<unknown>;
}

/** The certificates of bundles, each once, without the text between them. */
function certificatesOf(bundles: readonly ClusterTrustBundle[]): string {
  const blocks = bundles.flatMap(({ spec }) => readPem(spec.trustBundle));
  return [...new Set(blocks.map(({ label, der }) => encodePem(label, der)))].join('');
}

/**
 * A name as a segment of a path. The API accepts pods that refer to objects by names that no object can have, and such a
 * name must not lead elsewhere, whatever stands between this agent and the API.
 *
 * @throws VolumeProblem
 */
function segment(name: string): string {
  if (name === '.' || name === '..') throw new VolumeProblem(`invalid resource name ${JSON.stringify(name)}`);
  return encodeURIComponent(name);
}

/** Reads the API objects that pods refer to. */
export class ApiObjects implements EnvironmentReader {
  private readonly kept = new Map<string, Kept>();
  private readonly last = new Map<string, { readonly at: number; readonly object: unknown }>();

  constructor(
    private readonly api: ApiUser,
    private readonly names: VendorNames,
    private readonly timers: Timers,
    private readonly signal: AbortSignal,
  ) {}

  async configMap(namespace: string, name: string): Promise<ConfigMap | undefined> {
    return this.get(`/api/v1/namespaces/${namespace}/configmaps/${segment(name)}`);
  }

  async secret(namespace: string, name: string): Promise<Secret | undefined> {
    return this.get(`/api/v1/namespaces/${namespace}/secrets/${segment(name)}`);
  }

  /** The handler that a class of runtimes names; empty for pods without a class. */
  async handlerOf({ spec }: Pod): Promise<string> {
    const name = spec.runtimeClassName;
    if (!name) return '';
    const path = `/apis/${groupName('node', this.names)}/v1/runtimeclasses/${segment(name)}`;
    const found = await this.get<{ handler: string }>(path);
    if (found === undefined) throw new Error(`failed to get sandbox runtime: RuntimeClass "${name}" not found`);
    return found.handler;
  }

  /**
   * The volume behind a claim, as a volume of a pod.
   *
   * @param isOwn whether the claim must have been made for this pod alone
   * @throws VolumePending for a claim that is not bound, VolumeProblem for kinds of volumes that this agent does not
   * know
   */
  async resolveClaim({ metadata }: Pod, claimName: string, isOwn: boolean): Promise<ResolvedClaim> {
    const path = `/api/v1/namespaces/${metadata.namespace}/persistentvolumeclaims/${segment(claimName)}`;
    const claim = await this.get<PersistentVolumeClaim & ApiObject>(path);
    if (claim === undefined) throw new VolumeProblem(`persistentvolumeclaim "${claimName}" not found`);
    const owner = claim.metadata.ownerReferences?.find(({ controller }) => controller === true);
    if (isOwn && owner?.uid !== metadata.uid) {
      const [place, pod] = [`${metadata.namespace}/${claimName}`, `${metadata.namespace}/${metadata.name}`];
      throw new VolumeProblem(`PVC ${place} was not created for pod ${pod} (pod is not owner)`);
    }
    const name = claim.spec.volumeName;
    if (!name || claim.status.phase !== 'Bound')
      throw new VolumePending(`persistentvolumeclaim "${claimName}" is not bound`);
    const volume = await this.get<PersistentVolume>(`/api/v1/persistentvolumes/${segment(name)}`);
    if (volume === undefined) throw new VolumeProblem(`persistentvolume "${name}" not found`);
    const { hostPath, local, nfs, csi } = volume.spec;
    if (volume.spec.claimRef?.uid !== claim.metadata.uid)
      throw new VolumeProblem(`persistentvolume "${name}" belongs to another claim`);
    if (hostPath) return { volume: { name, hostPath } as Volume, isLocal: false };
    if (local) return { volume: { name, hostPath: { path: local.path, type: '' } } as Volume, isLocal: true };
    if (nfs) return { volume: { name, nfs } as Volume, isLocal: false };
    if (csi) return { csi: { volume, claim } };
    const [type] = Object.keys(volume.spec).filter(
      (key) =>
        typeof (volume.spec as Record<string, unknown>)[key] === 'object' &&
        !['capacity', 'claimRef', 'accessModes', 'nodeAffinity', 'mountOptions'].includes(key),
    );
    throw new VolumeProblem(`volumes of the type ${type} are not supported by this node agent`);
  }

  /** The CSIDriver object of a driver; undefined: the cluster has none. */
  csiDriver(name: string): Promise<CSIDriver | undefined> {
    return this.get(`/apis/${groupName('storage', this.names)}/v1/csidrivers/${segment(name)}`);
  }

  /** The certificates of trust bundles in PEM, each once; undefined: there is no such bundle. */
  async trustBundle(source: TrustBundleSource): Promise<string | undefined> {
    const base = `/apis/${groupName('certificates', this.names)}/v1/clustertrustbundles`;
    if ('name' in source) {
      const found = await this.get<ClusterTrustBundle>(`${base}/${segment(source.name)}`);
      return found === undefined ? undefined : certificatesOf([found]);
    }
    const { signerName, labelSelector } = source;
    if (labelSelector === undefined) return undefined;
    const labels = formatLabelSelector(labelSelector);
    const query = new URLSearchParams({
      fieldSelector: `spec.signerName=${signerName}`,
      ...(labels === '' ? {} : { labelSelector: labels }),
    });
    const items = (await this.get<{ items: ClusterTrustBundle[] | null }>(`${base}?${query}`))?.items ?? [];
    return items.length === 0 ? undefined : certificatesOf(items);
  }

  private get<T>(path: string): Promise<T | undefined> {
    const now = this.timers.elapsed();
    const known = this.kept.get(path);
    if (known !== undefined && now < known.at + freshMs) return known.object as Promise<T | undefined>;
    for (const [key, { at }] of this.kept) if (now >= at + freshMs) this.kept.delete(key);
    const object = this.read(path).catch((error: unknown) => {
      this.kept.delete(path);
      throw error;
    });
    this.kept.set(path, { at: now, object });
    return object as Promise<T | undefined>;
  }

  /** While the API does not answer, its last answer is good enough for containers that must restart. */
  private async read(path: string): Promise<unknown> {
    const now = this.timers.elapsed();
    for (const [key, { at }] of this.last) if (now >= at + rememberedMs) this.last.delete(key);
    const before = this.last.get(path);
    let object: unknown;
    try {
      object = await this.api.send<ApiObject>('GET', path, { signal: this.signal });
    } catch (error) {
      const isAnswer = error instanceof ApiError && error.status < 500;
      if (error instanceof ApiError && error.status === 404) object = undefined;
      else if (isAnswer || before === undefined || this.signal.aborted) throw error;
      else object = before.object;
    }
    this.last.set(path, { at: now, object });
    return object;
  }
}
