import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { ApiClient } from '../e2e/support/api-client.js';
import { TestCluster, tokens } from '../e2e/support/test-cluster.js';
import { addresses, type SampleService, services } from './sample-services.js';

const proxyToken = 'proxy-token';
const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';

/** A server with the sample services, and a kubeconfig for the proxy's user. */
export class ServiceScene {
  private constructor(
    readonly cluster: TestCluster,
    readonly kubeconfig: string,
  ) {}

  static async start(): Promise<ServiceScene> {
    const tokenFile = join(process.env.TMPDIR ?? '/tmp', `px-tokens-${process.pid}`);
    writeFileSync(
      tokenFile,
      `${tokens.admin},admin,admin-uid,"system:masters"\n${proxyToken},system:kube-proxy,proxy-uid\n`,
      { mode: 0o600 },
    );
    const cluster = await TestCluster.start({
      servers: 1,
      flags: [
        '--compat=kubernetes',
        '--authorization-mode=RBAC',
        '--service-cluster-ip-range=10.96.0.0/16',
        `--token-auth-file=${tokenFile}`,
      ],
    });
    const kubeconfig = join(cluster.directory, 'proxy.kubeconfig');
    const server = { server: cluster.first.url, 'certificate-authority': cluster.pki.authorityFile };
    writeFileSync(
      kubeconfig,
      stringify({
        ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'own' },
        clusters: [{ name: 'own', cluster: server }],
        users: [{ name: 'own', user: { token: proxyToken } }],
        contexts: [{ name: 'own', context: { cluster: 'own', user: 'own' } }],
      }),
      { mode: 0o600 },
    );
    const scene = new ServiceScene(cluster, kubeconfig);
    try {
      await scene.addNode();
      for (const service of services) await scene.add(service);
      return scene;
    } catch (error) {
      await scene.stop();
      throw error;
    }
  }

  get api(): ApiClient {
    return this.cluster.first.client;
  }

  async add({ name, labels = {}, spec, ingress, endpoints, protocols = ['TCP'] }: SampleService): Promise<void> {
    const { nodePort, ...rest } = spec as { nodePort?: number };
    const ports = protocols.map((protocol) => ({
      ...{ name: protocol.toLowerCase(), protocol, port: 80, targetPort: 8080 },
      ...(nodePort === undefined ? {} : { nodePort }),
    }));
    const made = await this.api.post('/api/v1/namespaces/default/services', {
      ...{ apiVersion: 'v1', kind: 'Service', metadata: { name, labels } },
      spec: { ...rest, ports },
    });
    assert.equal(made.status, 201, made.text);
    if (ingress !== undefined) {
      const path = `/api/v1/namespaces/default/services/${name}/status`;
      const set = await this.api.put(path, { ...made.body, status: { loadBalancer: { ingress } } });
      assert.equal(set.status, 200, set.text);
    }
    const answer = await this.api.post(slices, this.slice(name, labels, endpoints, protocols));
    assert.equal(answer.status, 201, answer.text);
  }

  /** Replaces the endpoints of a service. */
  async setEndpoints(name: string, endpoints: SampleService['endpoints'], protocols: readonly string[]): Promise<void> {
    const answer = await this.api.put(`${slices}/${name}`, this.slice(name, {}, endpoints, protocols));
    assert.equal(answer.status, 200, answer.text);
  }

  async remove(name: string): Promise<void> {
    for (const path of [`/api/v1/namespaces/default/services/${name}`, `${slices}/${name}`]) {
      assert.equal((await this.api.delete(path)).status, 200);
    }
  }

  async stop(): Promise<void> {
    await this.cluster.stop();
  }

  private slice(
    name: string,
    labels: object,
    endpoints: SampleService['endpoints'],
    protocols: readonly string[],
  ): object {
    return {
      ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4' },
      metadata: { name, labels: { ...labels, 'kubernetes.io/service-name': name } },
      ports: protocols.map((protocol) => ({ name: protocol.toLowerCase(), protocol, port: 8080 })),
      endpoints: endpoints.map(({ on, conditions = { ready: true }, hints }) => ({
        addresses: [addresses[on]],
        nodeName: on === 'pod' ? 'here' : 'there',
        conditions,
        ...(hints === undefined ? {} : { hints }),
      })),
    };
  }

  private async addNode(): Promise<void> {
    const labels = { 'topology.kubernetes.io/zone': 'east', 'kubernetes.io/hostname': 'here' };
    const made = await this.api.post('/api/v1/nodes', {
      ...{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'here', labels } },
      spec: { podCIDRs: ['10.244.1.0/24'], podCIDR: '10.244.1.0/24' },
    });
    assert.equal(made.status, 201, made.text);
    const status = { addresses: [{ type: 'InternalIP', address: addresses.node }] };
    const set = await this.api.put('/api/v1/nodes/here/status', { ...made.body, status });
    assert.equal(set.status, 200, set.text);
  }
}
