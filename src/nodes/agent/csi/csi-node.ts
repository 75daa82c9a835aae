import type { ApiObject } from '../../../base/machinery/api-object.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import type { Node } from '../../../objects/apis/core/v1/node.types.js';
import type { CSINode, CSINodeDriver } from '../../../objects/apis/storage/v1/csi-node.types.js';
import type { ApiUser } from '../../connection/api-connection.js';
import { ApiError } from '../../connection/api-error.js';
import type { DriverInfo } from './csi-messages.js';

export interface CsiNodeDependencies {
  readonly api: ApiUser;
  readonly names: VendorNames;
  readonly nodeName: string;
  /** The Node object; undefined: it does not exist yet. */
  readonly node: () => Node | undefined;
  readonly signal: AbortSignal;
}

/** In-tree volume plugins that were migrated to CSI, whose limits count together with those of the drivers. */
const migratedKinds = [
  ...['aws-ebs', 'azure-disk', 'azure-file', 'cinder', 'gce-pd', 'portworx-volume', 'vsphere-volume'],
] as const;
const mostVolumes = 2 ** 31 - 1;
const attempts = 5;

/**
 * What the API records about the drivers of this node: the CSINode object, and labels and an annotation of the Node.
 */
export class CsiNode {
  constructor(private readonly dependencies: CsiNodeDependencies) {}

  private get path(): string {
    return `/apis/${groupName('storage', this.dependencies.names)}/v1/csinodes`;
  }

  /** Creates the CSINode if it does not exist. Its owner is the Node. */
  async make(): Promise<void> {
    await this.change((drivers) => drivers);
  }

  /** Records in the API that the node has the driver. @throws Error for a topology that contradicts another driver's */
  async add(name: string, info: DriverInfo): Promise<void> {
    if (info.nodeId === '') {
      throw new Error('error adding CSI driver node info: driverNodeID must not be empty');
    }
    await this.label(name, info);
    const driver = describeDriver(name, info);
    await this.change((drivers) => {
      const known = drivers.find((each) => each.name === name);
      return known !== undefined && isSame(known, driver)
        ? drivers
        : [...drivers.filter((each) => each.name !== name), driver];
    });
  }

  async remove(name: string): Promise<void> {
    await this.change((drivers) =>
      drivers.some((each) => each.name === name) ? drivers.filter((each) => each.name !== name) : drivers,
    );
    await this.annotate((ids) => {
      const { [name]: _gone, ...others } = ids;
      return others;
    });
  }

  /** Changes the list of drivers; tries again if somebody else changed the object at the same time. */
  private async change(next: (drivers: readonly CSINodeDriver[]) => readonly CSINodeDriver[]): Promise<void> {
    const { api, nodeName, signal, node } = this.dependencies;
    const uid = node()?.metadata.uid;
    if (uid === undefined) throw new Error('the node is not registered yet');
    for (let attempt = 1; ; attempt++) {
      try {
        const present = await this.read();
        if (present === undefined) {
          await api.send('POST', this.path, { body: this.fresh(uid, next([])), signal });
          return;
        }
        const isOwn = present.metadata.ownerReferences?.some((owner) => owner.kind === 'Node' && owner.uid === uid);
        if (!isOwn) {
          if (attempt >= attempts) throw new Error(`the CSINode ${nodeName} belongs to another node`);
          // The object belongs to an earlier node of the same name.
          await api.send('DELETE', `${this.path}/${nodeName}`, { body: {}, signal });
          continue;
        }
        const before = present.spec.drivers ?? [];
        const drivers = next(before);
        if (drivers === before) return;
        await api.send('PUT', `${this.path}/${nodeName}`, { body: { ...present, spec: { drivers } }, signal });
        return;
      } catch (error) {
        const isRace = error instanceof ApiError && (error.status === 409 || error.status === 404);
        if (!isRace || attempt >= attempts) throw error;
      }
    }
  }

  private async read(): Promise<(CSINode & ApiObject) | undefined> {
    const { api, nodeName, signal } = this.dependencies;
    try {
      return await api.send<CSINode & ApiObject>('GET', `${this.path}/${nodeName}`, { signal });
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  private fresh(uid: string, drivers: readonly CSINodeDriver[]): object {
    const { names, nodeName } = this.dependencies;
    return {
      apiVersion: `${groupName('storage', names)}/v1`,
      kind: 'CSINode',
      metadata: {
        name: nodeName,
        annotations: {
          [`storage.alpha.${names.labelPrefix}/migrated-plugins`]: migratedKinds
            .map((kind) => `${names.labelPrefix}/${kind}`)
            .join(),
        },
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: nodeName, uid }],
      },
      spec: { drivers },
    };
  }

  /** The Node records its place in the topologies of its drivers, and the ids that they give it. */
  private async label(name: string, { nodeId, accessibleTopology }: DriverInfo): Promise<void> {
    const segments = Object.entries(accessibleTopology?.segments ?? {});
    const labels = this.dependencies.node()?.metadata.labels ?? {};
    for (const [key, value] of segments) {
      const present = labels[key];
      if (present !== undefined && present !== value) {
        throw new Error(
          `detected topology value collision: driver reported "${key}":"${value}" but existing label is "${key}":"${present}"`,
        );
      }
    }
    await this.annotate((ids) => ({ ...ids, [name]: nodeId }), Object.fromEntries(segments));
  }

  private async annotate(
    next: (ids: Readonly<Record<string, string>>) => Readonly<Record<string, string>>,
    labels: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const { api, names, nodeName, node, signal } = this.dependencies;
    const key = `csi.volume.${names.labelPrefix}/nodeid`;
    const { metadata } = (await api.send<Node>('GET', `/api/v1/nodes/${nodeName}`, { signal })) ?? node();
    const before = metadata.annotations?.[key];
    const ids = next(readIds(before));
    const text = Object.keys(ids).length === 0 ? undefined : JSON.stringify(ids);
    const isLabelled = Object.entries(labels).every(([label, value]) => metadata.labels?.[label] === value);
    if (text === before && isLabelled) return;
    const body = { metadata: { annotations: { [key]: text ?? null }, labels } };
    const contentType = 'application/strategic-merge-patch+json';
    await api.send('PATCH', `/api/v1/nodes/${nodeName}`, { body, contentType, signal });
  }
}

function readIds(text: string | undefined): Readonly<Record<string, string>> {
  try {
    return text === undefined ? {} : (JSON.parse(text) as Record<string, string>);
  } catch {
    return {};
  }
}

/** A driver in the form of the CSINode. */
export function describeDriver(
  name: string,
  { nodeId, maxVolumesPerNode, accessibleTopology }: DriverInfo,
): CSINodeDriver {
  return {
    name,
    nodeID: nodeId,
    topologyKeys: Object.keys(accessibleTopology?.segments ?? {}).sort(),
    ...(maxVolumesPerNode > 0 ? { allocatable: { count: Math.min(maxVolumesPerNode, mostVolumes) } } : {}),
  } as CSINodeDriver;
}

function isSame(a: CSINodeDriver, b: CSINodeDriver): boolean {
  const form = ({ nodeID, topologyKeys, allocatable }: CSINodeDriver) =>
    JSON.stringify([nodeID, [...(topologyKeys ?? [])].sort(), allocatable?.count ?? 0]);
  return form(a) === form(b);
}
