import { GrpcConnection } from '../grpc/grpc-connection.js';
import {
  allocateRequest,
  allocateResponse,
  type ContainerAllocation,
  type DeviceList,
  deviceList,
  devicePluginService,
  noContent,
  type PluginOptions,
  pluginOptions,
  preferredRequest,
  preferredResponse,
  preStartRequest,
} from './device-messages.js';

const callMs = 10_000;
/** Long enough for devices that must be reset first. */
const preStartMs = 30_000;

/** The calls to a plugin that offers the devices of one resource. All throw a {@link GrpcError}. */
export class DevicePlugin {
  private constructor(
    private readonly connection: GrpcConnection,
    private readonly options: PluginOptions,
  ) {}

  /** @param socket path of the plugin's own socket */
  static async open(socket: string): Promise<DevicePlugin> {
    const connection = await GrpcConnection.open(`unix://${socket}`, devicePluginService, callMs);
    try {
      return new DevicePlugin(
        connection,
        await connection.call('GetDevicePluginOptions', noContent, pluginOptions, {}),
      );
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  /** Reports all devices after each change, until the plugin ends or the signal is aborted. */
  watch(onDevices: (list: DeviceList) => void, signal: AbortSignal): Promise<void> {
    return this.connection.follow('ListAndWatch', noContent, deviceList, {}, onDevices, signal);
  }

  /** The devices that the plugin prefers; undefined: it has no preference. */
  async preferred(
    available: readonly string[],
    mustInclude: readonly string[],
    size: number,
  ): Promise<readonly string[] | undefined> {
    if (!this.options.getPreferredAllocationAvailable) return undefined;
    const request = { containerRequests: [{ available, mustInclude, size }] };
    const answer = await this.connection.call('GetPreferredAllocation', preferredRequest, preferredResponse, request);
    return answer.containerResponses[0]?.deviceIds;
  }

  async allocate(deviceIds: readonly string[]): Promise<ContainerAllocation> {
    const request = { containerRequests: [{ deviceIds }] };
    const answer = await this.connection.call('Allocate', allocateRequest, allocateResponse, request);
    const [allocation] = answer.containerResponses;
    if (allocation === undefined) throw new Error('the device plugin answered with no allocation');
    return allocation;
  }

  /** Prepares devices before each start of their container, if the plugin requires that. */
  async preStart(deviceIds: readonly string[]): Promise<void> {
    if (!this.options.preStartRequired) return;
    await this.connection.call(
      'PreStartContainer',
      preStartRequest,
      noContent,
      { deviceIds },
      { timeoutMs: preStartMs },
    );
  }

  close(): void {
    this.connection.close();
  }
}
