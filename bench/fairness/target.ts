import { Agent, request as httpsRequest } from 'node:https';

/** A server to measure. */
export interface Target {
  readonly name: string;
  readonly url: string;
  /** Token of a user who may do everything, also as other users. */
  readonly token: string;
}

export interface Sent {
  readonly status: number;
  readonly ms: number;
  readonly bytes: number;
}

export const namespace = 'fairness';
export const configMaps = `/api/v1/namespaces/${namespace}/configmaps`;
export const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;

/** Sends requests to a server over connections of its own, and throws the content of answers away. */
export class Sender {
  private readonly agent: Agent;

  constructor(
    private readonly target: Target,
    /** The user and groups to act as; default: the owner of the token. */
    private readonly as: { readonly user: string; readonly group?: string } | undefined,
    connections: number,
  ) {
    this.agent = new Agent({ keepAlive: true, maxSockets: connections, rejectUnauthorized: false });
  }

  send(method: string, path: string, body?: unknown): Promise<Sent> {
    const { as, target, agent } = this;
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers: Record<string, string> = { authorization: `Bearer ${target.token}` };
    if (as !== undefined) headers['impersonate-user'] = as.user;
    if (as?.group !== undefined) headers['impersonate-group'] = as.group;
    if (text !== undefined) {
      headers['content-type'] = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
      headers['content-length'] = String(Buffer.byteLength(text));
    }
    const began = performance.now();
    return new Promise((resolve, reject) => {
      const request = httpsRequest(`${target.url}${path}`, { method, headers, agent }, (response) => {
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, ms: performance.now() - began, bytes }));
        response.on('error', reject);
      });
      request.on('error', reject);
      request.end(text);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}
