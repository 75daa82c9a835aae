import type { Target } from './attacker.js';
import { honestAccount, honestNamespace } from './honest-probes.js';
import { honestNode, honestWorkNamespace } from './honest-work.js';
import type { Plane } from './plane.js';
import { Requester } from './requester.js';

const apiGroup = 'rbac.authorization.k8s.io';
const rbac = `/apis/${apiGroup}/v1`;

/** Creates and deletes tenants as an administrator. */
export class Tenancy {
  private readonly admin: Requester;

  constructor(private readonly plane: Plane) {
    this.admin = new Requester(plane.urls[0] as string, plane.adminToken);
  }

  /**
   * Keeps a node for the pods of honest tenants: others may fill a cluster whose administrators set no quotas, which says
   * nothing about the loops.
   */
  async reserveNode(): Promise<void> {
    if (!this.plane.hasScheduler) return;
    let names: string[] = [];
    while (names.length === 0) {
      const { items } = (await this.admin.must({ method: 'GET', path: '/api/v1/nodes' })).body;
      names = (items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name).sort();
      if (names.length === 0) await new Promise((resolve) => setTimeout(resolve, 200));
    }
    const taints = [{ key: honestNode, value: 'yes', effect: 'NoSchedule' }];
    const body = { metadata: { labels: { [honestNode]: 'yes' } }, spec: { taints } };
    await this.admin.must({ method: 'PATCH', path: `/api/v1/nodes/${names.at(-1)}`, body });
  }

  /** The honest account: it has all rights, but its requests are queued like everybody's. Returns its token. */
  async honest(): Promise<string> {
    await this.namespace(honestNamespace);
    await this.namespace(honestWorkNamespace);
    await this.account(honestNamespace, honestAccount);
    const subjects = [{ kind: 'ServiceAccount', name: honestAccount, namespace: honestNamespace }];
    const roleRef = { apiGroup, kind: 'ClusterRole', name: 'cluster-admin' };
    const body = { metadata: { name: 'honest' }, subjects, roleRef };
    await this.admin.must({ method: 'POST', path: `${rbac}/clusterrolebindings`, body }, 201, 409);
    return this.token(honestNamespace, honestAccount);
  }

  /** Creates an account with the role `admin` in a namespace of its own, and no other rights. */
  async attacker(namespace: string): Promise<Target> {
    const { urls, adminToken, hasScheduler } = this.plane;
    await this.namespace(namespace);
    await this.account(namespace, 'mallory');
    const subjects = [{ kind: 'ServiceAccount', name: 'mallory', namespace }];
    const roleRef = { apiGroup, kind: 'ClusterRole', name: 'admin' };
    const body = { metadata: { name: 'mallory' }, subjects, roleRef };
    await this.admin.must({ method: 'POST', path: `${rbac}/namespaces/${namespace}/rolebindings`, body }, 201, 409);
    return { urls, adminToken, hasScheduler, namespace, token: await this.token(namespace, 'mallory') };
  }

  /** Deletes namespaces. Resolves with the milliseconds until the last one was gone, or undefined if one stays. */
  async remove(namespaces: readonly string[], withinMs: number): Promise<number | undefined> {
    const began = performance.now();
    for (const name of namespaces) {
      await this.admin.must({ method: 'DELETE', path: `/api/v1/namespaces/${name}` }, 200, 202, 404, 409);
    }
    for (const name of namespaces) {
      const path = `/api/v1/namespaces/${name}`;
      for (;;) {
        const { status } = await this.admin.send({ method: 'GET', path }).catch(() => ({ status: 0 }));
        if (status === 404) break;
        if (performance.now() - began > withinMs) return undefined;
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    }
    return performance.now() - began;
  }

  close(): void {
    this.admin.close();
  }

  private async namespace(name: string): Promise<void> {
    await this.admin.must({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name } } }, 201, 409);
  }

  private async account(namespace: string, name: string): Promise<void> {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts`;
    await this.admin.must({ method: 'POST', path, body: { metadata: { name } } }, 201, 409);
  }

  private async token(namespace: string, name: string): Promise<string> {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 86_400 } };
    return (await this.admin.must({ method: 'POST', path, body }, 201)).body.status.token as string;
  }
}
