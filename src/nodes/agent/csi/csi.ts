import type { Timers } from '../../../base/machinery/timers.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { Node } from '../../../objects/apis/core/v1/node.types.js';
import type { ApiUser } from '../../connection/api-connection.js';
import type { EventSink } from '../agent-events.js';
import type { ApiObjects } from '../api-objects.js';
import type { PodFolders } from '../pod-folders.js';
import type { PodTokens } from '../pod-tokens.js';
import { CsiDrivers } from './csi-drivers.js';
import { CsiFolders } from './csi-folders.js';
import { CsiNode } from './csi-node.js';
import { CsiObjects } from './csi-objects.js';
import { CsiVolumes } from './csi-volumes.js';
import { PluginRegistry } from './plugin-registry.js';
import { VolumeStatistics } from './volume-statistics.js';
import { VolumesInUse } from './volumes-in-use.js';

export interface CsiDependencies {
  readonly api: ApiUser;
  readonly names: VendorNames;
  readonly nodeName: string;
  readonly rootFolder: string;
  readonly folders: PodFolders;
  readonly objects: ApiObjects;
  readonly tokens: PodTokens;
  readonly events: EventSink;
  /** The Node object; undefined: it does not exist yet. */
  readonly node: () => Node | undefined;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** The node's CSI drivers, their registration and their volumes. */
export class Csi {
  readonly volumes: CsiVolumes;
  readonly statistics: VolumeStatistics;
  private readonly drivers = new CsiDrivers();
  private readonly registry: PluginRegistry;
  private readonly inUse: VolumesInUse;

  constructor(dependencies: CsiDependencies) {
    const { api, names, nodeName, timers, logger, signal, events } = dependencies;
    const { drivers } = this;
    const folders = new CsiFolders(dependencies.rootFolder, dependencies.folders);
    const objects = new CsiObjects(dependencies);
    const csiNode = new CsiNode(dependencies);
    this.inUse = new VolumesInUse({ api, nodeName, labelPrefix: names.labelPrefix, folders, logger, signal });
    this.volumes = new CsiVolumes({ drivers, folders, objects, inUse: this.inUse, events, nodeName, timers, logger });
    this.statistics = new VolumeStatistics({ volumes: this.volumes, drivers, timers });
    this.registry = new PluginRegistry({ folder: folders.registry, drivers, csiNode, objects, timers, logger });
  }

  /** Finds the volumes that an earlier agent left. Must be called before the node reports anything. */
  prepare(): Promise<void> {
    return this.inUse.read();
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.registry.run(signal), this.volumes.run(signal)]);
    this.drivers.close();
  }

  /** The Node object from the API. */
  seen(node: Node): void {
    this.inUse.seen(node);
  }
}
