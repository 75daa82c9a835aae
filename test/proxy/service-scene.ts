import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { vendorNames } from '../../src/base/machinery/vendor.js';
import { joiningObjects } from '../../src/tools/cli/cluster/joining-objects.js';
import type { ApiClient } from '../e2e/support/api-client.js';
import { TestCluster, type TestClusterOptions, tokens } from '../e2e/support/test-cluster.js';
import { addresses, type SampleService, services } from './sample-services.js';

const proxyToken = 'proxy-token';
const policies = '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies';
const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';

/** A server with the sample services, and a kubeconfig for the proxy's user. */
export class ServiceScene {
  private constructor(
    readonly cluster: TestCluster,
    readonly kubeconfig: string,
  ) {}

  /** @param route the way of the server to its database; default: no detour */
  static async start(route?: TestClusterOptions['route']): Promise<ServiceScene> {
    const tokenFile = join(process.env.TMPDIR ?? '/tmp', `px-tokens-${process.pid}`);
    writeFileSync(
      tokenFile,
      `${tokens.admin},admin,admin-uid,"system:masters"\n${proxyToken},system:kube-proxy,proxy-uid\n`,
      { mode: 0o600 },
    );
    const cluster = await TestCluster.start({
      servers: 1,
      ...(route === undefined ? {} : { route, pooler: 'none' as const }),
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
      await scene.allowPolicies();
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

  /** Adds a running pod of the node. */
  async addPod(name: string, ip: string, labels: object): Promise<void> {
    const pods = '/api/v1/namespaces/default/pods';
    // No control loops run here that make it.
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } };
    await this.api.post('/api/v1/namespaces/default/serviceaccounts', account);
    const containers = [{ name: 'main', image: 'none' }];
    const made = await this.api.post(pods, {
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, labels } },
      spec: { nodeName: 'here', containers },
    });
    assert.equal(made.status, 201, made.text);
    const status = { phase: 'Running', podIP: ip, podIPs: [{ ip }] };
    const set = await this.api.put(`${pods}/${name}/status`, { ...made.body, status });
    assert.equal(set.status, 200, set.text);
  }

  /** Makes or replaces a network policy. */
  async setPolicy(name: string, spec: object): Promise<void> {
    const body = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { name }, spec };
    const made = await this.api.post(policies, body);
    const answer = made.status === 409 ? await this.api.put(`${policies}/${name}`, body) : made;
    assert.ok(answer.status < 300, answer.text);
  }

  async removePolicy(name: string): Promise<void> {
    assert.equal((await this.api.delete(`${policies}/${name}`)).status, 200);
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

  /** The rights that `plinth init` gives proxies beside their role. */
  private async allowPolicies(): Promise<void> {
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    const names = vendorNames('k8s.io', 'kubernetes');
    const info = { endpoint: '', serviceRange: '10.96.0.0/16', cgroupDriver: 'cgroupfs' };
    for (const { resource, body } of joiningObjects(names, info)) {
      if (body.metadata.name !== 'plinth:network-policy-reader') continue;
      const kind = resource === 'clusterroles' ? 'ClusterRole' : 'ClusterRoleBinding';
      const made = await this.api.post(`${rbac}/${resource}`, {
        ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind },
        ...body,
      });
      assert.equal(made.status, 201, made.text);
    }
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
