import { execFile } from 'node:child_process';
import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import grpc from '@grpc/grpc-js';
import {
  capabilitiesResponse,
  expandRequest,
  expandResponse,
  infoResponse,
  publishRequest,
  stageRequest,
  statsRequest,
  statsResponse,
  unpublishRequest,
  unstageRequest,
} from '../../src/nodes/agent/csi/csi-messages.js';
import { emptyMessage, pluginInfo, registrationStatus } from '../../src/nodes/agent/csi/plugin-messages.js';
import type { WireMessage } from '../../src/nodes/agent/grpc/wire.js';

const run = promisify(execFile);

/** What a test driver can do, by the numbers of the interface. */
const capabilities = [1, 2, 3];

/** A call that the driver got. */
export interface CsiCall {
  readonly method: string;
  // biome-ignore lint/suspicious/noExplicitAny: the fields that its method has
  readonly request: any;
}

type Answer<In, Out> = (request: In) => Promise<Out>;

/** A driver whose volumes are folders of this machine, behind sockets as node agents want them. */
export class TestCsiDriver {
  readonly calls: CsiCall[] = [];
  /** What the agent answered to the registration. */
  registered: { readonly pluginRegistered: boolean; readonly error: string } | undefined;
  /** Makes calls of a method fail, with this text. */
  readonly failures = new Map<string, string>();
  mostVolumes = 7;
  private readonly server = new grpc.Server();

  private constructor(
    readonly name: string,
    private readonly folder: string,
    private readonly socket: string,
  ) {}

  /** @param agentFolder root folder of the agent that should find the driver */
  static async start(name: string, agentFolder: string): Promise<TestCsiDriver> {
    const registry = join(agentFolder, 'plugins_registry');
    await fs.mkdir(registry, { recursive: true });
    const folder = join(agentFolder, 'plugins', name);
    await fs.mkdir(folder, { recursive: true });
    const driver = new TestCsiDriver(name, folder, join(registry, `${name}-reg.sock`));
    await driver.listen();
    return driver;
  }

  private async listen(): Promise<void> {
    const { server } = this;
    this.serve('pluginregistration.Registration', {
      GetInfo: method(emptyMessage, pluginInfo, async () => ({
        type: 'CSIPlugin',
        name: this.name,
        endpoint: this.socket,
        supportedVersions: ['1.0.0'],
      })),
      NotifyRegistrationStatus: method(registrationStatus, emptyMessage, async (status) => {
        this.registered = status;
        return {};
      }),
    });
    this.serve('csi.v1.Node', {
      NodeGetInfo: method(emptyMessage, infoResponse, async () => ({
        nodeId: `${this.name}-node`,
        maxVolumesPerNode: this.mostVolumes,
        accessibleTopology: { segments: { 'test.example/place': 'here' } },
      })),
      NodeGetCapabilities: method(emptyMessage, capabilitiesResponse, async () => ({
        capabilities: capabilities.map((type) => ({ rpc: { type } })),
      })),
      NodeStageVolume: this.node(
        'NodeStageVolume',
        stageRequest,
        emptyMessage,
        async ({ volumeId, stagingTargetPath, volumeCapability }) => {
          if (volumeCapability?.block === undefined) await this.bind(await this.dataOf(volumeId), stagingTargetPath);
          return {};
        },
      ),
      NodeUnstageVolume: this.node('NodeUnstageVolume', unstageRequest, emptyMessage, async ({ stagingTargetPath }) => {
        await run('umount', [stagingTargetPath]).catch(() => undefined);
        return {};
      }),
      NodePublishVolume: this.node('NodePublishVolume', publishRequest, emptyMessage, async (request) => {
        const { volumeId, targetPath, stagingTargetPath, volumeCapability } = request;
        if (volumeCapability?.block !== undefined) {
          await fs.writeFile(targetPath, '');
          await this.bind('/dev/zero', targetPath);
          return {};
        }
        await fs.mkdir(targetPath, { recursive: true });
        await this.bind(stagingTargetPath === '' ? await this.dataOf(volumeId) : stagingTargetPath, targetPath);
        return {};
      }),
      NodeUnpublishVolume: this.node('NodeUnpublishVolume', unpublishRequest, emptyMessage, async ({ targetPath }) => {
        await run('umount', [targetPath]).catch(() => undefined);
        await fs.rm(targetPath, { force: true, recursive: true });
        return {};
      }),
      NodeExpandVolume: this.node('NodeExpandVolume', expandRequest, expandResponse, async ({ capacityRange }) => ({
        capacityBytes: capacityRange?.requiredBytes ?? 0,
      })),
      NodeGetVolumeStats: this.node('NodeGetVolumeStats', statsRequest, statsResponse, async () => ({
        usage: [
          { available: 70, total: 100, used: 30, unit: 1 },
          { available: 6, total: 9, used: 3, unit: 2 },
        ],
      })),
    });
    await new Promise<void>((resolve, reject) => {
      server.bindAsync(`unix:${this.socket}`, grpc.ServerCredentials.createInsecure(), (error) =>
        error === null ? resolve() : reject(error),
      );
    });
  }

  private serve(service: string, methods: Record<string, Method>): void {
    const definition: Record<string, grpc.MethodDefinition<unknown, unknown>> = {};
    const handlers: Record<string, grpc.UntypedHandleCall> = {};
    for (const [name, { request, response, answer }] of Object.entries(methods)) {
      definition[name] = {
        ...{ path: `/${service}/${name}`, requestStream: false, responseStream: false },
        requestSerialize: (value) => request.encode(value),
        requestDeserialize: (bytes) => request.decode(bytes),
        responseSerialize: (value) => response.encode(value),
        responseDeserialize: (bytes) => response.decode(bytes),
      };
      handlers[name] = ((call: grpc.ServerUnaryCall<unknown, unknown>, done: grpc.sendUnaryData<unknown>) => {
        answer(call.request).then(
          (value) => done(null, value),
          (error: Error) => done({ code: grpc.status.INTERNAL, details: error.message }),
        );
      }) as grpc.UntypedHandleCall;
    }
    this.server.addService(definition, handlers);
  }

  private node<In, Out>(
    name: string,
    request: WireMessage<In, never>,
    response: WireMessage<unknown, Out>,
    answer: Answer<In, Out>,
  ): Method {
    return method(request, response, async (value) => {
      this.calls.push({ method: name, request: value });
      const failure = this.failures.get(name);
      if (failure !== undefined) throw new Error(failure);
      return answer(value);
    });
  }

  /** The folder that a volume is made of. */
  async dataOf(volumeId: string): Promise<string> {
    const path = join(this.folder, 'volumes', volumeId);
    await fs.mkdir(path, { recursive: true });
    return path;
  }

  private async bind(source: string, target: string): Promise<void> {
    await run('mount', ['--bind', source, target]);
  }

  /** The calls of a method. */
  callsOf(name: string): readonly CsiCall[] {
    return this.calls.filter((call) => call.method === name);
  }

  async stop(): Promise<void> {
    this.server.forceShutdown();
    await fs.rm(this.socket, { force: true });
  }
}

interface Method {
  readonly request: WireMessage<unknown, unknown>;
  readonly response: WireMessage<unknown, unknown>;
  readonly answer: Answer<unknown, unknown>;
}

function method<In, Out>(
  request: WireMessage<In, never>,
  response: WireMessage<unknown, Out>,
  answer: Answer<In, Out>,
): Method {
  return { request, response, answer } as unknown as Method;
}
