import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { promises as fs } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { TestIdentity } from '../../support/test-authority.js';
import { busyboxImage, TestContainerd } from '../../support/test-containerd.js';
import { AgentProcess } from './agent-process.js';
import type { AgentScene } from './agent-scene.js';
import type { ApiClient } from './api-client.js';
import { Kubectl } from './kubectl.js';
import { eventually, freePort, TestCluster } from './test-cluster.js';

const pods = '/api/v1/namespaces/default/pods';
const rights = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
const nodeName = 'real-1';

/** Whether a status has a condition that is true. */
// biome-ignore lint/suspicious/noExplicitAny: whatever the server answered
export const isTrue = (status: any, type: string): boolean =>
  status?.conditions?.some((each: { type: string; status: string }) => each.type === type && each.status === 'True');

/** A runtime, a server, and an agent that has joined by a bootstrap token and runs pods in real containers. */
export class AgentNode implements AgentScene {
  readonly nodeName = nodeName;
  private agent: AgentProcess | undefined;

  private constructor(
    readonly containerd: TestContainerd,
    private readonly cluster: TestCluster,
    readonly kubectl: Kubectl,
    private readonly flags: readonly string[],
    /** The authority of the clients that the agent knows. */
    readonly clients: TestIdentity,
    /** A client who may do everything. */
    readonly friend: TestIdentity,
    /** Port of the agent's server. */
    readonly port: number,
  ) {}

  static async start(): Promise<AgentNode> {
    const containerd = await TestContainerd.start();
    const { folder } = containerd;
    const clients = await TestIdentity.root('clients of agents');
    const friend = await clients.issue({ subject: [{ O: ['system:masters'] }, { CN: ['friend'] }] });
    const server = await clients.issue({ subject: [{ O: ['system:masters'] }, { CN: ['server'] }] });
    await fs.writeFile(join(folder, 'agents.crt'), clients.cert);
    await fs.writeFile(join(folder, 'server.crt'), server.cert);
    await fs.writeFile(join(folder, 'server.key'), server.key);
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    await fs.writeFile(join(folder, 'accounts.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }), {
      mode: 0o600,
    });
    const shared = ['--compat=kubernetes', '--authorization-mode=Node,RBAC'];
    const cluster = await TestCluster.start({
      servers: 1,
      flags: [
        ...shared,
        '--enable-bootstrap-token-auth',
        `--service-account-signing-key-file=${join(folder, 'accounts.key')}`,
        '--enable-admission-plugins=NodeRestriction',
        `--kubelet-client-certificate=${join(folder, 'server.crt')}`,
        `--kubelet-client-key=${join(folder, 'server.key')}`,
        '--kubelet-preferred-address-types=InternalIP',
        '--kubelet-timeout=20s',
      ],
      controllers: true,
      controllerFlags: shared,
    }).catch(async (error: Error) => {
      await containerd.stop();
      throw error;
    });
    const port = await freePort();
    const flags = await flagsOf(containerd, port);
    const kubectl = new Kubectl(cluster.first.kubeconfig);
    const node = new AgentNode(containerd, cluster, kubectl, flags, clients, friend, port);
    try {
      await allowJoining(cluster.first.client);
      await fs.mkdir(join(folder, 'manifests'));
      await fs.writeFile(join(folder, 'bootstrap'), bootstrapConfig(cluster));
      await node.startAgent();
      await node.untilUsable();
      return node;
    } catch (error) {
      await node.stop();
      throw error;
    }
  }

  get admin(): ApiClient {
    return this.cluster.first.client;
  }

  /** Root folder of the agent. */
  get folder(): string {
    return join(this.containerd.folder, 'agent');
  }

  /** Folder of the manifests of static pods. */
  get manifests(): string {
    return join(this.containerd.folder, 'manifests');
  }

  private async untilUsable(): Promise<void> {
    await eventually(async () => {
      const { body } = await this.admin.get(`/api/v1/nodes/${nodeName}`);
      return isTrue(body.status, 'Ready');
    }, 'the node is ready');
    await eventually(
      async () => (await this.admin.get('/api/v1/namespaces/default/serviceaccounts/default')).status === 200,
      'there is an account for pods',
    );
  }

  async startAgent(...more: readonly string[]): Promise<void> {
    this.agent = await AgentProcess.start([...this.flags, ...more]);
  }

  async stopAgent(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await this.agent?.stop(signal);
  }

  /** The last that the agent has logged. */
  get agentLog(): string {
    return this.agent?.log() ?? '';
  }

  readonly restartAgent = async (): Promise<void> => {
    await this.stopAgent('SIGKILL');
    await this.startAgent();
  };

  async stop(): Promise<void> {
    await this.stopAgent();
    await this.cluster.stop();
    await this.containerd.stop();
  }

  readonly create = async (name: string, spec: object, metadata: object = {}): Promise<void> => {
    const { status, text: answer } = await this.admin.post(pods, {
      metadata: { name, ...metadata },
      spec: { nodeName, terminationGracePeriodSeconds: 1, automountServiceAccountToken: false, ...spec },
    });
    assert.equal(status, 201, answer);
  };

  /** Sends a request to the agent's server, with a certificate or without. */
  readonly ask = (path: string, who?: TestIdentity, headers: Record<string, string> = {}) =>
    new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
      const identity = who === undefined ? {} : { cert: who.cert, key: who.key };
      const { port } = this;
      const request = get(
        { host: '127.0.0.1', port, path, rejectUnauthorized: false, agent: false, headers, ...identity },
        (response) => void text(response).then((body) => resolve({ status: response.statusCode, body }), reject),
      );
      request.once('error', reject);
    });

  readonly askAgent = async (path: string): Promise<string> => (await this.ask(path, this.friend)).body;

  readonly shell = (script: string) => ({ image: busyboxImage, command: ['/bin/sh', '-c', script] });

  // biome-ignore lint/suspicious/noExplicitAny: whatever the server answered
  readonly untilPod = (name: string, what: string, look: (status: any) => boolean) =>
    eventually(async () => {
      const { body } = await this.admin.get(`${pods}/${name}`);
      return body.status !== undefined && look(body.status) && body;
    }, what);
}

async function flagsOf(containerd: TestContainerd, port: number): Promise<readonly string[]> {
  const { folder } = containerd;
  return [
    '--compat=kubernetes',
    `--kubeconfig=${join(folder, 'kubeconfig')}`,
    `--bootstrap-kubeconfig=${join(folder, 'bootstrap')}`,
    `--cert-dir=${join(folder, 'certificates')}`,
    '--rotate-server-certificates',
    `--hostname-override=${nodeName}`,
    '--node-ip=127.0.0.1',
    `--container-runtime-endpoint=${containerd.endpoint}`,
    `--root-dir=${join(folder, 'agent')}`,
    `--pod-logs-dir=${join(folder, 'logs')}`,
    `--cgroup-root=/${containerd.cgroupRoot}`,
    '--fail-swap-on=false',
    '--eviction-hard=memory.available<0%',
    `--pod-manifest-path=${join(folder, 'manifests')}`,
    '--address=127.0.0.1',
    `--port=${port}`,
    `--healthz-port=${await freePort()}`,
    '--anonymous-auth=false',
    `--client-ca-file=${join(folder, 'agents.crt')}`,
    '--authentication-token-webhook',
    '--authorization-mode=Webhook',
    '--kube-api-qps=100',
    '--kube-api-burst=200',
    '--event-qps=100',
    '--event-burst=200',
  ];
}

async function allowJoining(admin: ApiClient): Promise<void> {
  const rbac = { apiGroup: 'rbac.authorization.k8s.io' };
  for (const [role, group] of [
    ['system:node-bootstrapper', 'system:bootstrappers'],
    ['system:certificates.k8s.io:certificatesigningrequests:nodeclient', 'system:bootstrappers'],
  ] as const) {
    const { status, text: answer } = await admin.post(rights, {
      metadata: { name: `test:${role}` },
      roleRef: { ...rbac, kind: 'ClusterRole', name: role },
      subjects: [{ ...rbac, kind: 'Group', name: group }],
    });
    assert.equal(status, 201, answer);
  }
  const { status, text: answer } = await admin.post('/api/v1/namespaces/kube-system/secrets', {
    metadata: { name: 'bootstrap-token-abcdef' },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      'token-id': 'abcdef',
      'token-secret': '0123456789abcdef',
      'usage-bootstrap-authentication': 'true',
    },
  });
  assert.equal(status, 201, answer);
}

function bootstrapConfig(cluster: TestCluster): string {
  const authority = Buffer.from(cluster.pki.authority).toString('base64');
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: cluster.first.url, 'certificate-authority-data': authority } }],
    users: [{ name: 'u', user: { token: 'abcdef.0123456789abcdef' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });
}
