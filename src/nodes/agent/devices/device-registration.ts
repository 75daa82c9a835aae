import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import type { Server, ServiceDefinition } from '@grpc/grpc-js';
import { errorText } from '../../../base/machinery/startup-error.js';
import type { Timers } from '../../../base/machinery/timers.js';
import type { Logger } from '../../../base/observability/logger.js';
import { grpcCodes } from '../grpc/grpc-connection.js';
import { folderName } from '../pod-folders.js';
import type { DeviceManager } from './device-manager.js';
import {
  deviceApiVersion,
  healthyDevice,
  noContent,
  type RegisterRequest,
  registerRequest,
  registrationService,
} from './device-messages.js';
import { DevicePlugin } from './device-plugin.js';

export interface DeviceRegistrationDependencies {
  /** Folder of the sockets: `device-plugins` in the root folder of the agent. */
  readonly folder: string;
  readonly devices: Pick<DeviceManager, 'offer' | 'withdraw' | 'forget'>;
  readonly timers: Timers;
  readonly logger: Logger;
}

/** The socket at which plugins expect the agent. They register again when it is recreated. */
const socketName = 'kubelet.sock';
/** How long a plugin may be away until the node no longer has its devices. */
const graceMs = 300_000;
const extendedName = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)\/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** Accepts registrations of device plugins, and watches the devices of each. */
export class DeviceRegistration {
  private server: Server | undefined;
  private readonly present = new Map<string, AbortController>();

  constructor(private readonly dependencies: DeviceRegistrationDependencies) {}

  /** Begins to listen. @throws Error when the socket can't be made */
  async start(): Promise<void> {
    const { folder } = this.dependencies;
    await fs.mkdir(folder, { recursive: true, mode: 0o750 });
    // Plugins also recreate their sockets when they notice that the agent has restarted.
    for (const entry of await fs.readdir(folder, { withFileTypes: true }))
      if (entry.isSocket()) await fs.rm(join(folder, entry.name), { force: true });
    const grpc = (await import('@grpc/grpc-js')).default;
    const server = new grpc.Server();
    server.addService(registrationDefinition, {
      Register: (call: { request: RegisterRequest }, done: (error: object | null, answer?: object) => void) => {
        const problem = registrationProblem(call.request);
        if (problem === undefined) {
          done(null, {});
          this.follow(call.request);
        } else done({ code: grpcCodes.unknown, details: problem });
      },
    });
    await new Promise<void>((resolve, reject) => {
      const path = `unix:${join(folder, socketName)}`;
      server.bindAsync(path, grpc.ServerCredentials.createInsecure(), (error) =>
        error === null ? resolve() : reject(error),
      );
    });
    this.server = server;
  }

  stop(): void {
    for (const following of this.present.values()) following.abort();
    this.server?.forceShutdown();
  }

  /** The plugin that registered last offers the devices of the resource. */
  private follow(request: RegisterRequest): void {
    const { logger, timers, devices } = this.dependencies;
    const { resourceName } = request;
    this.present.get(resourceName)?.abort();
    const following = new AbortController();
    this.present.set(resourceName, following);
    const { signal } = following;
    void (async () => {
      logger.info('a device plugin was registered', { resource: resourceName });
      try {
        await this.watch(request, signal);
      } catch (error) {
        if (!signal.aborted)
          logger.warn('a device plugin stopped', { resource: resourceName, error: errorText(error) });
      }
      await timers.wait(graceMs, signal);
      if (!signal.aborted) devices.forget(resourceName);
    })();
  }

  private async watch({ resourceName, endpoint }: RegisterRequest, signal: AbortSignal): Promise<void> {
    const { folder, devices } = this.dependencies;
    const plugin = await DevicePlugin.open(join(folder, folderName(endpoint)));
    try {
      await plugin.watch(({ devices: list }) => {
        const found = list.map(({ id, health }) => ({ id, isHealthy: health === healthyDevice }));
        if (!signal.aborted) devices.offer(resourceName, plugin, found);
      }, signal);
    } finally {
      devices.withdraw(resourceName, plugin);
      plugin.close();
    }
  }
}

/** Why a registration is refused; undefined if it is not. */
export function registrationProblem({ version, resourceName, endpoint }: RegisterRequest): string | undefined {
  if (version !== deviceApiVersion)
    return `requested API version "${version}" is not supported by kubelet. Supported version is "${deviceApiVersion}"`;
  const [, domain = ''] = extendedName.exec(resourceName) ?? [];
  const isReserved = domain === 'kubernetes.io' || domain.endsWith('.kubernetes.io') || domain.startsWith('requests.');
  if (domain === '' || isReserved) return `the ResourceName "${resourceName}" is invalid`;
  try {
    folderName(endpoint);
    return undefined;
  } catch {
    return `the endpoint "${endpoint}" is not a name of a socket in the folder of the plugins`;
  }
}

const registrationDefinition: ServiceDefinition = {
  Register: {
    path: `/${registrationService}/Register`,
    requestStream: false,
    responseStream: false,
    requestSerialize: (value: RegisterRequest) => registerRequest.encode(value),
    requestDeserialize: (bytes: Buffer) => registerRequest.decode(bytes),
    responseSerialize: () => noContent.encode({}),
    responseDeserialize: (bytes: Buffer) => noContent.decode(bytes),
  },
};
