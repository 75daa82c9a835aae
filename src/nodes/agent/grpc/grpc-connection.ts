import type { Client, ServiceError } from '@grpc/grpc-js';
import { GrpcError } from './grpc-error.js';
import type { WireMessage } from './wire.js';

/** gRPC statuses that the agent acts on. */
export const grpcCodes = {
  ...{ canceled: 1, unknown: 2, deadlineExceeded: 4, notFound: 5, aborted: 10, unimplemented: 12, unavailable: 14 },
} as const;

const reconnecting = { 'grpc.initial_reconnect_backoff_ms': 100, 'grpc.max_reconnect_backoff_ms': 1_000 };
/** Enough for lists of all containers of a machine, with long annotations. */
const largestMessage = 64 * 1024 * 1024;

export interface CallLimits {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** Calls to one service behind a socket. */
export class GrpcConnection {
  private constructor(
    private readonly client: Client,
    private readonly service: string,
    private readonly timeoutMs: number,
  ) {}

  /**
   * @param endpoint such as `unix:///run/containerd/containerd.sock`
   * @param service full name such as `runtime.v1.ImageService`
   * @param timeoutMs default time limit of a call
   */
  static async open(endpoint: string, service: string, timeoutMs: number): Promise<GrpcConnection> {
    // The default of the module is what it has both bundled and not.
    const { Client, credentials } = (await import('@grpc/grpc-js')).default;
    const address = endpoint.replace(/^unix:\/\//, 'unix:');
    const client = new Client(address, credentials.createInsecure(), {
      ...reconnecting,
      'grpc.max_receive_message_length': largestMessage,
      'grpc.max_send_message_length': largestMessage,
      // Records of every call, and texts about the service in the DNS, which nobody reads: a fifth of the work for a call.
      'grpc.enable_channelz': 0,
      'grpc.service_config_disable_resolution': 1,
      // Sockets of this machine have no host name; some servers refuse the path in its place.
      'grpc.default_authority': 'localhost',
    });
    return new GrpcConnection(client, service, timeoutMs);
  }

  /** @throws GrpcError */
  call<ReqIn, ReqOut, ResOut>(
    method: string,
    request: WireMessage<ReqOut, ReqIn>,
    response: { decode(bytes: Buffer): ResOut },
    value: ReqIn,
    { timeoutMs = this.timeoutMs, signal }: CallLimits = {},
  ): Promise<ResOut> {
    return new Promise((resolve, reject) => {
      const deadline = Number.isFinite(timeoutMs) ? Date.now() + timeoutMs : Number.POSITIVE_INFINITY;
      const done = (error: ServiceError | null, answer?: ResOut) => {
        signal?.removeEventListener('abort', cancel);
        if (error === null && answer !== undefined) resolve(answer);
        else reject(new GrpcError(error?.code ?? 2, error?.details || error?.message || 'no answer'));
      };
      const call = this.client.makeUnaryRequest(
        `/${this.service}/${method}`,
        (sent: ReqIn) => request.encode(sent),
        (bytes: Buffer) => response.decode(bytes),
        value,
        { deadline },
        done,
      );
      const cancel = () => call.cancel();
      if (signal?.aborted) cancel();
      else signal?.addEventListener('abort', cancel, { once: true });
    });
  }

  /** Hands over the messages of a streamed response, until it ends or the signal is aborted. @throws GrpcError */
  follow<ReqIn, ReqOut, ResOut, ResIn>(
    method: string,
    request: WireMessage<ReqOut, ReqIn>,
    response: WireMessage<ResOut, ResIn>,
    value: ReqIn,
    onMessage: (message: ResOut) => void,
    signal: AbortSignal,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const call = this.client.makeServerStreamRequest(
        `/${this.service}/${method}`,
        (sent: ReqIn) => request.encode(sent),
        (bytes: Buffer) => response.decode(bytes),
        value,
      );
      const cancel = () => call.cancel();
      call.on('data', onMessage);
      call.once('error', (error: ServiceError) => {
        signal.removeEventListener('abort', cancel);
        if (signal.aborted) resolve();
        else reject(new GrpcError(error.code ?? grpcCodes.unknown, error.details || error.message));
      });
      call.once('end', () => {
        signal.removeEventListener('abort', cancel);
        resolve();
      });
      if (signal.aborted) cancel();
      else signal.addEventListener('abort', cancel, { once: true });
    });
  }

  close(): void {
    this.client.close();
  }
}
