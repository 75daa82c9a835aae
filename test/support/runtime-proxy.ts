import grpc from '@grpc/grpc-js';

/** What a proxy answers for a call: by `ask` it gets the runtime's own answer. */
export type RuntimeBehaviour = (method: string, ask: () => Promise<Buffer>) => Promise<Buffer>;

const methods = {
  'runtime.v1.RuntimeService': [
    ...['Version', 'Status', 'RuntimeConfig', 'UpdateRuntimeConfig', 'ListPodSandbox', 'PodSandboxStatus'],
    ...['RunPodSandbox', 'StopPodSandbox', 'RemovePodSandbox', 'ListContainers', 'ContainerStatus', 'CreateContainer'],
    ...['StartContainer', 'StopContainer', 'RemoveContainer', 'UpdateContainerResources', 'ReopenContainerLog'],
    ...['ExecSync', 'Exec', 'Attach', 'PortForward', 'ListContainerStats', 'ListPodSandboxStats'],
  ],
  'runtime.v1.ImageService': ['ListImages', 'ImageStatus', 'PullImage', 'RemoveImage', 'ImageFsInfo'],
};
const raw = (bytes: Buffer) => bytes;

/** Stands between an agent and its runtime, and answers in the runtime's place as it is told. */
export class RuntimeProxy {
  /** Passes calls on as they are until this is changed. */
  behave: RuntimeBehaviour = honest;

  private constructor(
    private readonly server: grpc.Server,
    private readonly client: grpc.Client,
    readonly endpoint: string,
  ) {}

  /** @param path of the socket at which the proxy listens */
  static async start(path: string, runtime: string): Promise<RuntimeProxy> {
    const options = {
      ...{ 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 },
      'grpc.default_authority': 'localhost',
    };
    const server = new grpc.Server(options);
    const client = new grpc.Client(runtime.replace(/^unix:\/\//, 'unix:'), grpc.credentials.createInsecure(), options);
    const proxy = new RuntimeProxy(server, client, `unix://${path}`);
    for (const [service, names] of Object.entries(methods)) proxy.add(service, names);
    await new Promise<void>((resolve, reject) =>
      server.bindAsync(`unix:${path}`, grpc.ServerCredentials.createInsecure(), (error) =>
        error === null ? resolve() : reject(error),
      ),
    );
    return proxy;
  }

  stop(): void {
    this.server.forceShutdown();
    this.client.close();
  }

  private add(service: string, names: readonly string[]): void {
    const definition = Object.fromEntries(
      names.map((name) => [
        name,
        {
          ...{ path: `/${service}/${name}`, requestStream: false, responseStream: false },
          ...{ requestSerialize: raw, requestDeserialize: raw, responseSerialize: raw, responseDeserialize: raw },
        },
      ]),
    );
    const handlers = Object.fromEntries(
      names.map((name) => [
        name,
        (call: { request: Buffer }, done: (error: object | null, answer?: Buffer) => void) => {
          const ask = () => this.ask(`/${service}/${name}`, call.request);
          this.behave(name, ask).then(
            (answer) => done(null, answer),
            ({ code = 2, details = 'refused' }: { code?: number; details?: string }) => done({ code, details }),
          );
        },
      ]),
    );
    this.server.addService(definition, handlers);
  }

  private ask(path: string, request: Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.client.makeUnaryRequest(path, raw, raw, request, (error, answer) =>
        error === null && answer !== undefined ? resolve(answer) : reject(error),
      );
    });
  }
}

function honest(_method: string, ask: () => Promise<Buffer>): Promise<Buffer> {
  return ask();
}
