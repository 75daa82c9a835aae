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

/** Who gets rights in the namespace. */
type Subject = { readonly kind: 'User' | 'Group'; readonly name: string };

/** Makes the namespace, the rights of the users in it, a lease, and ConfigMaps of 1 KiB. Repeats nothing that is there. */
export async function prepareNamespace(target: Target, subjects: readonly Subject[], objects: number): Promise<void> {
  const admin = new Sender(target, undefined, 32);
  const make = async (path: string, body: unknown) => {
    const { status } = await admin.send('POST', path, body);
    if (status !== 201 && status !== 409) throw new Error(`POST ${path}: ${status}`);
  };
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const apiGroup = 'rbac.authorization.k8s.io';
  await make('/api/v1/namespaces', { metadata: { name: namespace } });
  await make(`${rbac}/clusterroles`, {
    metadata: { name: namespace },
    rules: [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch', 'create'] },
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'patch'] },
    ],
  });
  await make(`${rbac}/clusterrolebindings`, {
    metadata: { name: namespace },
    roleRef: { apiGroup, kind: 'ClusterRole', name: namespace },
    subjects: subjects.map((subject) => ({ ...subject, apiGroup })),
  });
  await make(leases, { metadata: { name: 'one' }, spec: { holderIdentity: 'one' } });
  let next = 0;
  const writer = async () => {
    for (let i = next++; i < objects; i = next++) {
      await make(configMaps, { metadata: { name: `kept-${i}` }, data: { text: 'x'.repeat(1024) } });
    }
  };
  await Promise.all(Array.from({ length: 32 }, writer));
  admin.close();
}
