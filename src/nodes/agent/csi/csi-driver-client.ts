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
import { nothing } from './plugin-messages.js';

/** What a call of a driver may take. */
const callMs = 120_000;

/** A driver for volumes behind its socket, as far as nodes need it. All calls throw a {@link GrpcError}. */
export class CsiDriverClient {
  private known: Promise<ReadonlySet<number>> | undefined;

  private constructor(
    readonly name: string,
    readonly endpoint: string,
    private readonly connection: GrpcConnection,
  ) {}

  /** @param endpoint path of its socket. Does not wait for the driver to be there. */
  static async open(name: string, endpoint: string): Promise<CsiDriverClient> {
    return new CsiDriverClient(name, endpoint, await GrpcConnection.open(`unix://${endpoint}`, 'csi.v1.Node', callMs));
  }

  info(): Promise<DriverInfo> {
    return this.connection.call('NodeGetInfo', nothing, infoResponse, {});
  }

  async can(capability: keyof typeof nodeCapabilities): Promise<boolean> {
    this.known ??= this.capabilities();
    return (await this.known).has(nodeCapabilities[capability]);
  }

  private async capabilities(): Promise<ReadonlySet<number>> {
    try {
      const { capabilities } = await this.connection.call('NodeGetCapabilities', nothing, capabilitiesResponse, {});
      return new Set(capabilities.map(({ rpc }) => rpc?.type ?? 0));
    } catch (error) {
      this.known = undefined;
      throw error;
    }
  }

  /** The driver's word for an access mode of a PersistentVolume. */
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
    await this.connection.call('NodeStageVolume', stageRequest, nothing, request);
  }

  async unstage(volumeId: string, stagingTargetPath: string): Promise<void> {
    await this.connection.call('NodeUnstageVolume', unstageRequest, nothing, { volumeId, stagingTargetPath });
  }

  async publish(request: PublishRequest): Promise<void> {
    await this.connection.call('NodePublishVolume', publishRequest, nothing, request);
  }

  async unpublish(volumeId: string, targetPath: string): Promise<void> {
    await this.connection.call('NodeUnpublishVolume', unpublishRequest, nothing, { volumeId, targetPath });
  }

  /** Makes the file system of a volume as large as the volume. */
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
