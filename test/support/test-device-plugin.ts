import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import grpc from '@grpc/grpc-js';
import {
  allocateRequest,
  allocateResponse,
  type ContainerAllocation,
  deviceApiVersion,
  deviceList,
  devicePluginService,
  noContent,
  pluginOptions,
  preferredRequest,
  preferredResponse,
  preStartRequest,
  registerRequest,
  registrationService,
} from '../../src/nodes/agent/devices/device-messages.js';
import { GrpcConnection } from '../../src/nodes/agent/grpc/grpc-connection.js';
import type { WireMessage } from '../../src/nodes/agent/grpc/wire.js';

/** A device plugin whose devices exist only by name, behind a socket as node agents want it. */
export class TestDevicePlugin {
  /** The devices of each allocation, in order. */
  readonly allocated: (readonly string[])[] = [];
  readonly started: (readonly string[])[] = [];
  /** Makes allocations fail, with this text. */
  failure: string | undefined;
  private readonly server = new grpc.Server();
  private readonly watchers = new Set<grpc.ServerWritableStream<unknown, unknown>>();
  private devices: Record<string, 'Healthy' | 'Unhealthy'> = {};

  private constructor(
    readonly resource: string,
    private readonly folder: string,
    private readonly allocation: (ids: readonly string[]) => ContainerAllocation,
  ) {}

  /**
   * Starts the plugin and registers it.
   *
   * @param folder of the plugins of the agent
   */
  static async start(
    resource: string,
    folder: string,
    devices: Record<string, 'Healthy' | 'Unhealthy'>,
    allocation: (ids: readonly string[]) => ContainerAllocation,
  ): Promise<TestDevicePlugin> {
    const plugin = new TestDevicePlugin(resource, folder, allocation);
    plugin.devices = devices;
    await plugin.listen();
    await plugin.register();
    return plugin;
  }

  get endpoint(): string {
    return `${this.resource.replace('/', '-')}.sock`;
  }

  /** @throws GrpcError when the agent refuses it */
  async register(version = deviceApiVersion, endpoint = this.endpoint): Promise<void> {
    const agent = await GrpcConnection.open(`unix://${join(this.folder, 'kubelet.sock')}`, registrationService, 10_000);
    try {
      const request = { version, endpoint, resourceName: this.resource };
      await agent.call('Register', registerRequest, noContent, request);
    } finally {
      agent.close();
    }
  }

  /** The devices are others from now on. */
  change(devices: Record<string, 'Healthy' | 'Unhealthy'>): void {
    this.devices = devices;
    for (const watcher of this.watchers) this.send(watcher);
  }

  async stop(): Promise<void> {
    this.server.forceShutdown();
    await fs.rm(join(this.folder, this.endpoint), { force: true });
  }

  private send(watcher: grpc.ServerWritableStream<unknown, unknown>): void {
    watcher.write({ devices: Object.entries(this.devices).map(([id, health]) => ({ id, health })) });
  }

  private async listen(): Promise<void> {
    const unary =
      <In, Out>(answer: (request: In) => Out) =>
      (call: { request: In }, done: (error: object | null, answer?: Out) => void) => {
        try {
          done(null, answer(call.request));
        } catch (error) {
          done({ code: 2, details: (error as Error).message });
        }
      };
    const methods = {
      GetDevicePluginOptions: [noContent, pluginOptions, false],
      ListAndWatch: [noContent, deviceList, true],
      GetPreferredAllocation: [preferredRequest, preferredResponse, false],
      Allocate: [allocateRequest, allocateResponse, false],
      PreStartContainer: [preStartRequest, noContent, false],
    } as unknown as Record<string, [WireMessage<unknown, unknown>, WireMessage<unknown, unknown>, boolean]>;
    const definition = Object.fromEntries(
      Object.entries(methods).map(([name, [request, response, responseStream]]) => [
        name,
        {
          path: `/${devicePluginService}/${name}`,
          requestStream: false,
          responseStream,
          requestSerialize: (value: unknown) => request.encode(value),
          requestDeserialize: (bytes: Buffer) => request.decode(bytes),
          responseSerialize: (value: unknown) => response.encode(value),
          responseDeserialize: (bytes: Buffer) => response.decode(bytes),
        },
      ]),
    );
    this.server.addService(definition, {
      GetDevicePluginOptions: unary(() => ({ preStartRequired: true, getPreferredAllocationAvailable: true })),
      ListAndWatch: (call: grpc.ServerWritableStream<unknown, unknown>) => {
        this.watchers.add(call);
        call.once('close', () => this.watchers.delete(call));
        this.send(call);
      },
      // It prefers the last ones.
      GetPreferredAllocation: unary(
        ({ containerRequests }: { containerRequests: { available: string[]; size: number }[] }) => ({
          containerResponses: containerRequests.map(({ available, size }) => ({
            deviceIds: [...available].sort().slice(-size),
          })),
        }),
      ),
      Allocate: unary(({ containerRequests }: { containerRequests: { deviceIds: string[] }[] }) => {
        if (this.failure !== undefined) throw new Error(this.failure);
        for (const { deviceIds } of containerRequests) this.allocated.push(deviceIds);
        return { containerResponses: containerRequests.map(({ deviceIds }) => this.allocation(deviceIds)) };
      }),
      PreStartContainer: unary(({ deviceIds }: { deviceIds: string[] }) => {
        this.started.push(deviceIds);
        return {};
      }),
    });
    const path = `unix:${join(this.folder, this.endpoint)}`;
    await new Promise<void>((resolve, reject) =>
      this.server.bindAsync(path, grpc.ServerCredentials.createInsecure(), (error) =>
        error === null ? resolve() : reject(error),
      ),
    );
  }
}
