import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestIdentity } from '../../support/test-authority.js';
import { ApiClient, type ApiResponse } from './api-client.js';
import { eventually, TestCluster } from './test-cluster.js';

const group = 'rbac.authorization.k8s.io';
const rbac = `/apis/${group}/v1`;

/** Attackers with few rights and the objects within their reach, on one server with the modes Node and RBAC. */
export class AttackScene {
  private readonly clients: ApiClient[] = [];

  private constructor(
    readonly cluster: TestCluster,
    /** The authority of the users' certificates. */
    readonly users: TestIdentity,
  ) {}

  static async start(): Promise<AttackScene> {
    const cluster = await TestCluster.start({ servers: 0 });
    const users = await TestIdentity.root('users');
    const file = (name: string, text: string) => {
      const path = join(cluster.directory, name);
      writeFileSync(path, text, { mode: 0o600 });
      return path;
    };
    const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });
    await cluster.addServer(undefined, [
      '--authorization-mode=Node,RBAC',
      '--enable-admission-plugins=NodeRestriction',
      `--client-ca-file=${file('users.pem', users.cert)}`,
      `--service-account-signing-key-file=${file('sa.key', String(key))}`,
      '--enable-bootstrap-token-auth',
      '--log-level=debug',
    ]);
    return new AttackScene(cluster, users);
  }

  get admin(): ApiClient {
    return this.cluster.first.client;
  }

  /** Creates an object as the administrator. */
  async make(path: string, body: unknown): Promise<ApiResponse> {
    const answer = await this.admin.post(path, body);
    assert.equal(answer.status, 201, answer.text);
    return answer;
  }

  /** Grants a user a right, in a namespace or everywhere. */
  async grant(name: string, user: string, rules: readonly object[], namespace?: string): Promise<void> {
    const base = namespace === undefined ? rbac : `${rbac}/namespaces/${namespace}`;
    const kind = namespace === undefined ? 'ClusterRole' : 'Role';
    await this.make(`${base}/${kind.toLowerCase()}s`, { metadata: { name }, rules });
    await this.make(`${base}/${kind.toLowerCase()}bindings`, {
      metadata: { name },
      roleRef: { apiGroup: group, kind, name },
      subjects: [{ kind: 'User', apiGroup: group, name: user }],
    });
  }

  /** Resolves once the bearer of the token may read a path. */
  async mayRead(path: string, token: string): Promise<void> {
    await eventually(async () => (await this.admin.get(path, { token })).status === 200, `${path} can be read`);
  }

  /** A client with a certificate for the given subject. */
  async agent(subject: readonly Record<string, string[]>[]): Promise<ApiClient> {
    const identity = await this.users.issue({ subject: [...subject] });
    const credentials = { ca: this.cluster.pki.authority, cert: identity.chain, key: identity.key };
    const client = new ApiClient(this.cluster.first.url, credentials);
    this.clients.push(client);
    return client;
  }

  async stop(): Promise<void> {
    for (const client of this.clients) client.close();
    await this.cluster.stop();
  }
}

/** Fails unless the answer is a 403 with a reason. */
export function forbidden(answer: ApiResponse, what: string): void {
  assert.equal(answer.status, 403, `${what}: ${answer.status} ${answer.text}`);
  assert.equal(answer.body.reason, 'Forbidden', what);
  assert.notEqual(answer.body.message, '', what);
}
