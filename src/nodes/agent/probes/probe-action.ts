import { connect } from 'node:net';
import type { Container } from '../../../objects/apis/core/v1/container.types.js';
import type { GRPCAction, HTTPGetAction } from '../../../objects/apis/core/v1/probe.types.js';
import { grpcCodes } from '../grpc/grpc-connection.js';
import { GrpcError } from '../grpc/grpc-error.js';
import { message, scalar } from '../grpc/wire.js';
import { dialText } from './dial-text.js';
import { askContainer, type HttpAnswer } from './http-request.js';
import { PatientTimeout } from './patient-timeout.js';

/** The result of a check. `unknown`: the check itself could not be made. */
export interface CheckResult {
  readonly outcome: 'success' | 'failure' | 'unknown';
  readonly output: string;
  /** For an event about a successful check with something to report. */
  readonly warning?: string;
}

export function portOf(port: number | string, { ports }: Pick<Container, 'ports'>): number {
  const number = typeof port === 'number' ? port : Number(port);
  if (Number.isInteger(number) && number > 0 && number < 65_536) return number;
  const named = (ports ?? []).find(({ name }) => name === port);
  if (named === undefined) throw new Error(`couldn't find port: ${port}`);
  return named.containerPort;
}

/** A GET, which succeeds with a status from 200 to 399. */
export async function checkHttp(
  action: HTTPGetAction,
  address: string,
  port: number,
  userAgent: string,
  timeoutMs: number,
): Promise<CheckResult> {
  let answer: HttpAnswer;
  try {
    answer = await askContainer({ action, address, port, userAgent, timeoutMs });
  } catch (error) {
    return { outcome: 'failure', output: (error as Error).message };
  }
  const { statusCode, text } = answer;
  if (statusCode < 200 || statusCode >= 400) {
    return { outcome: 'failure', output: `HTTP probe failed with statuscode: ${statusCode}` };
  }
  const warning = statusCode < 300 ? {} : { warning: `Probe terminated redirects, Response body: ${text}` };
  return { outcome: 'success', output: text, ...warning };
}

export function checkTcp(address: string, port: number, timeoutMs: number): Promise<CheckResult> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port });
    const timeout = new PatientTimeout(timeoutMs);
    const end = (result: CheckResult) => {
      timeout[Symbol.dispose]();
      socket.destroy();
      resolve(result);
    };
    const late: CheckResult = { outcome: 'failure', output: `dial tcp ${address}:${port}: i/o timeout` };
    timeout.signal.addEventListener('abort', () => end(late), { once: true });
    socket.once('connect', () => end({ outcome: 'success', output: '' }));
    socket.once('error', (error) => end({ outcome: 'failure', output: dialText(address, port, error) }));
  });
}

const healthRequest = message({ service: scalar(1, 'string') });
const healthResponse = message({ status: scalar(1, 'integer') });
/** Health states of the gRPC health service, by number; only the second one is healthy. */
const healthWords = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];

/** Tries to connect until the time is up, as a server may begin to listen in the meantime; then sends the request. */
export async function checkGrpc(
  { service }: Pick<GRPCAction, 'service'>,
  address: string,
  port: number,
  timeoutMs: number,
): Promise<CheckResult> {
  const { Client, credentials } = (await import('@grpc/grpc-js')).default;
  const host = address.includes(':') ? `[${address}]` : address;
  const client = new Client(`${host}:${port}`, credentials.createInsecure());
  const time = `${timeoutMs / 1000}s`;
  using timeout = new PatientTimeout(timeoutMs);
  const { signal } = timeout;
  try {
    const isConnected = await new Promise<boolean>((resolve) => {
      signal.addEventListener('abort', () => resolve(false), { once: true });
      client.waitForReady(Number.POSITIVE_INFINITY, (error) => resolve(error === undefined));
    });
    if (!isConnected) {
      const output = `timeout: failed to connect service "${host}:${port}" within ${time}: context deadline exceeded`;
      return { outcome: 'failure', output };
    }
    return await new Promise((resolve) => {
      const call = client.makeUnaryRequest(
        '/grpc.health.v1.Health/Check',
        (value: { service: string }) => healthRequest.encode(value),
        (bytes: Buffer) => healthResponse.decode(bytes),
        { service: service ?? '' },
        (error, answer) => {
          const code = signal.aborted ? grpcCodes.deadlineExceeded : error?.code;
          if (error) resolve({ outcome: 'failure', output: healthFailure(code ?? error.code, error.details, time) });
          else if (answer?.status === 1) resolve({ outcome: 'success', output: 'service healthy' });
          else {
            const word = healthWords[answer?.status ?? 0] ?? String(answer?.status);
            resolve({ outcome: 'failure', output: `service unhealthy (responded with "${word}")` });
          }
        },
      );
      signal.addEventListener('abort', () => call.cancel(), { once: true });
    });
  } finally {
    client.close();
  }
}

function healthFailure(code: number, details: string, time: string): string {
  if (code === grpcCodes.unimplemented) {
    return `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${details}`;
  }
  if (code === grpcCodes.deadlineExceeded) return `timeout: health rpc did not complete within ${time}`;
  return `error: health rpc probe failed: ${new GrpcError(code, details).message}`;
}
