import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import type { Node } from '../../../objects/apis/core/v1/node.types.js';
import { attachmentName, type CsiSource } from '../../../objects/apis/storage/csi-names.js';
import type { CSIDriver } from '../../../objects/apis/storage/v1/csi-driver.types.js';
import type { VolumeAttachment } from '../../../objects/apis/storage/v1/volume-attachment.types.js';
import type { ApiUser } from '../../connection/api-connection.js';
import { ApiError } from '../../connection/api-error.js';
import type { ApiObjects } from '../api-objects.js';
import type { PodTokens } from '../pod-tokens.js';
import { VolumePending } from '../volumes/volume-pending.js';
import { VolumeProblem } from '../volumes/volume-problem.js';
import { type CsiVolume, podInfo } from './csi-volume.js';

type Texts = Readonly<Record<string, string>>;

export interface CsiObjectsDependencies {
  readonly api: ApiUser;
  readonly names: VendorNames;
  readonly nodeName: string;
  readonly objects: ApiObjects;
  readonly tokens: PodTokens;
  readonly signal: AbortSignal;
}

const tokensKey = 'csi.storage.k8s.io/serviceAccount.tokens';
const defaultTokenSeconds = 3600;

/** Reads the API objects that drivers need, and writes what the API records about volumes. */
export class CsiObjects {
  constructor(private readonly dependencies: CsiObjectsDependencies) {}

  /** The CSIDriver object; undefined: there is none, which is allowed. */
  driver(name: string): Promise<CSIDriver | undefined> {
    return this.dependencies.objects.csiDriver(name);
  }

  /**
   * The metadata that the driver's attacher recorded for a volume attached to this node. The status of the node must
   * list the volume too: the entry is removed before the volume is detached.
   *
   * @throws VolumePending while it is not attached
   */
  async attachment(source: CsiSource, uniqueName: string): Promise<Texts> {
    const { names, nodeName } = this.dependencies;
    const path = `/apis/${groupName('storage', names)}/v1/volumeattachments/${attachmentName(source, nodeName)}`;
    const [node, attachment] = await Promise.all([
      this.read<Node>(`/api/v1/nodes/${nodeName}`),
      this.read<VolumeAttachment>(path),
    ]);
    const isListed = node?.status?.volumesAttached?.some(({ name }) => name === uniqueName) === true;
    if (!isListed || attachment?.status?.attached !== true) {
      throw new VolumePending(`volume ${source.handle} is not attached to this node yet`);
    }
    return attachment.status.attachmentMetadata ?? {};
  }

  private async read<T extends object>(path: string): Promise<T | undefined> {
    const { api, signal } = this.dependencies;
    try {
      return await api.send<T>('GET', path, { signal });
    } catch (error) {
      // Nodes may read only the attachments of their own pods, and the authorizer learns of a new pod with a delay.
      if (error instanceof ApiError && (error.status === 404 || error.status === 403)) return undefined;
      throw error;
    }
  }

  /** @throws VolumeProblem for a Secret that does not exist */
  async secretOf(place: { readonly namespace: string; readonly name: string } | undefined): Promise<Texts> {
    if (place === undefined) return {};
    const secret = await this.dependencies.objects.secret(place.namespace, place.name);
    if (secret === undefined) {
      throw new VolumeProblem(`failed to find the secret ${place.name} in the namespace ${place.namespace}`);
    }
    return Object.fromEntries(
      Object.entries(secret.data ?? {}).map(([key, text]) => [key, Buffer.from(text, 'base64').toString('utf8')]),
    );
  }

  /** The attributes that the driver gets when it publishes a volume to a pod. */
  async publishWords(
    volume: CsiVolume,
    driver: CSIDriver | undefined,
  ): Promise<{ readonly volumeContext: Texts; readonly secrets: Texts }> {
    const secrets = await this.secretOf(volume.publishSecret);
    const info = driver?.spec.podInfoOnMount === true ? podInfo(volume.pod, volume.lifecycle) : {};
    const tokens = volume.isBlock ? {} : await this.tokensFor(volume, driver);
    const isSecret = driver?.spec.serviceAccountTokenInSecrets === true;
    return {
      volumeContext: { ...volume.attributes, ...info, ...(isSecret ? {} : tokens) },
      secrets: { ...secrets, ...(isSecret ? tokens : {}) },
    };
  }

  private async tokensFor({ pod }: CsiVolume, driver: CSIDriver | undefined): Promise<Texts> {
    const requests = [...(driver?.spec.tokenRequests ?? [])];
    if (requests.length === 0) return {};
    const found: [string, { readonly token: string; readonly expirationTimestamp: string }][] = [];
    for (const { audience, expirationSeconds } of requests) {
      const seconds = Number(expirationSeconds ?? defaultTokenSeconds);
      found.push([audience, await this.dependencies.tokens.issue(pod, audience, seconds)]);
    }
    return { [tokensKey]: JSON.stringify(Object.fromEntries(found.sort(([a], [b]) => (a < b ? -1 : 1)))) };
  }

  /** Records that the file system of a claimed volume has the size of its volume now. */
  async hasGrown({ pod, claimName = '' }: CsiVolume, size: string): Promise<void> {
    const { api, signal } = this.dependencies;
    const path = `/api/v1/namespaces/${pod.metadata.namespace}/persistentvolumeclaims/${claimName}/status`;
    const done = ['FileSystemResizePending', 'Resizing'].map((type) => ({ type, $patch: 'delete' }));
    const body = { status: { capacity: { storage: size }, conditions: done, allocatedResourceStatuses: null } };
    await api.send('PATCH', path, { body, contentType: 'application/strategic-merge-patch+json', signal });
  }
}
