import { GrpcConnection } from '../grpc/grpc-connection.js';
import {
  accessModes,
  capabilitiesResponse,
  type DriverInfo,
  type ExpandRequest,
  expandRequest,
  expandResponse,
  infoResponse,
  nodeCapabilities,
  type PublishRequest,
  publishRequest,
  type StageRequest,
  stageRequest,
  statsRequest,
  statsResponse,
  unpublishRequest,
  unstageRequest,
  type VolumeStats,
} from './csi-messages.js';
import { emptyMessage } from './plugin-messages.js';

/** The time limit of a call to a driver. */
const callMs = 120_000;

/** A CSI driver behind its socket; only the calls that nodes need. All calls throw a {@link GrpcError}. */
export class CsiDriverClient {
  private known: Promise<ReadonlySet<number>> | undefined;

  private constructor(
    readonly name: string,
    readonly endpoint: string,
    private readonly connection: GrpcConnection,
  ) {}

  /** @param endpoint path of the driver's socket. Does not wait until the driver is available. */
  static async open(name: string, endpoint: string): Promise<CsiDriverClient> {
    return new CsiDriverClient(name, endpoint, await GrpcConnection.open(`unix://${endpoint}`, 'csi.v1.Node', callMs));
  }

  info(): Promise<DriverInfo> {
    return this.connection.call('NodeGetInfo', emptyMessage, infoResponse, {});
  }

  async can(capability: keyof typeof nodeCapabilities): Promise<boolean> {
    this.known ??= this.capabilities();
    return (await this.known).has(nodeCapabilities[capability]);
  }

  private async capabilities(): Promise<ReadonlySet<number>> {
    try {
      const { capabilities } = await this.connection.call(
        'NodeGetCapabilities',
        emptyMessage,
        capabilitiesResponse,
        {},
      );
      return new Set(capabilities.map(({ rpc }) => rpc?.type ?? 0));
    } catch (error) {
      this.known = undefined;
      throw error;
    }
  }

  /** The CSI name of an access mode of a PersistentVolume. */
  async accessMode(mode: string): Promise<number> {
    const knowsPods = await this.can('singleNodeMultiWriter');
    switch (mode) {
      case 'ReadWriteOnce':
        return knowsPods ? accessModes.singleNodeMultiWriter : accessModes.singleNodeWriter;
      case 'ReadWriteOncePod':
        return knowsPods ? accessModes.singleNodeSingleWriter : accessModes.singleNodeWriter;
      case 'ReadOnlyMany':
        return accessModes.multiNodeReaderOnly;
      case 'ReadWriteMany':
        return accessModes.multiNodeMultiWriter;
      default:
        return accessModes.unknown;
    }
  }

  async stage(request: StageRequest): Promise<void> {
    await this.connection.call('NodeStageVolume', stageRequest, emptyMessage, request);
  }

  async unstage(volumeId: string, stagingTargetPath: string): Promise<void> {
    await this.connection.call('NodeUnstageVolume', unstageRequest, emptyMessage, { volumeId, stagingTargetPath });
  }

  async publish(request: PublishRequest): Promise<void> {
    await this.connection.call('NodePublishVolume', publishRequest, emptyMessage, request);
  }

  async unpublish(volumeId: string, targetPath: string): Promise<void> {
    await this.connection.call('NodeUnpublishVolume', unpublishRequest, emptyMessage, { volumeId, targetPath });
  }

  /** Expands the file system of a volume to the size of the volume. */
  async expand(request: ExpandRequest): Promise<void> {
    await this.connection.call('NodeExpandVolume', expandRequest, expandResponse, request);
  }

  stats(volumeId: string, volumePath: string): Promise<VolumeStats> {
    return this.connection.call('NodeGetVolumeStats', statsRequest, statsResponse, { volumeId, volumePath });
  }

  close(): void {
    this.connection.close();
  }
}
