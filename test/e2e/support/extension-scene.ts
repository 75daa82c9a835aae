import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeWithUs } from '../../support/child-guard.js';
import { TestIdentity } from '../../support/test-authority.js';
import { ExtensionServer, group, version } from './extension-server.js';
import { eventually, TestCluster, type TestServer } from './test-cluster.js';

const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices';
export const serviceName = 'flavours';
export const serviceNamespace = 'extensions';

/** A cluster with control loops, and an extension server that its processes can reach. */
export class ExtensionScene {
  private constructor(
    readonly cluster: TestCluster,
    readonly extension: ExtensionServer,
    readonly proxies: TestIdentity,
    readonly certificateFile: string,
    readonly keyFile: string,
    private readonly directory: string,
  ) {}

  /**
   * @param flags of the serving processes, besides those about the extension server
   * @param controllerFlags flags of the process with the control loops
   */
  static async start(
    flags: readonly string[] = [],
    servers = 2,
    controllerFlags: readonly string[] = [],
  ): Promise<ExtensionScene> {
    const directory = mkdtempSync(join(tmpdir(), 'plinth-extension-'));
    removeWithUs(directory);
    const proxies = await TestIdentity.root('proxies');
    const proxy = await proxies.issue({ subject: [{ CN: ['front-proxy'] }] });
    const [certificateFile, keyFile] = [join(directory, 'proxy.crt'), join(directory, 'proxy.key')];
    writeFileSync(certificateFile, proxy.chain);
    writeFileSync(keyFile, proxy.key, { mode: 0o600 });
    const extension = await ExtensionServer.start(proxies.cert, [`${serviceName}.${serviceNamespace}.svc`]);
    const reach = [
      `--proxy-client-cert-file=${certificateFile}`,
      `--proxy-client-key-file=${keyFile}`,
      `--admission-webhook-service-addresses=${serviceNamespace}/${serviceName}=127.0.0.1:${extension.port}`,
    ];
    try {
      const cluster = await TestCluster.start({
        servers,
        flags: [...reach, ...flags],
        controllers: true,
        accounts: false,
        controllerFlags: [...reach, ...controllerFlags],
      });
      return new ExtensionScene(cluster, extension, proxies, certificateFile, keyFile, directory);
    } catch (error) {
      await extension.stop();
      throw error;
    }
  }

  get first(): TestServer {
    return this.cluster.first;
  }

  get second(): TestServer {
    return this.cluster.second;
  }

  /**
   * Registers the extension server. Resolves when its condition Available has the status `available`, by default True.
   */
  async register(spec: object = {}, available: string | undefined = 'True'): Promise<void> {
    const { client } = this.first;
    const name = `${version}.${group}`;
    const answer = await client.post(apiServices, {
      metadata: { name },
      spec: {
        group,
        version,
        groupPriorityMinimum: 2000,
        versionPriority: 10,
        service: { namespace: serviceNamespace, name: serviceName },
        caBundle: this.extension.caBundle,
        ...spec,
      },
    });
    assert.equal(answer.status, 201, answer.text);
    if (available !== undefined) await this.whenAvailable(available);
  }

  async unregister(): Promise<void> {
    const { client } = this.first;
    await client.delete(`${apiServices}/${version}.${group}`);
    for (const server of this.cluster.servers) {
      await eventually(
        async () => (await server.client.get(`/apis/${group}/${version}`)).status === 404,
        'the group version to be gone',
      );
    }
  }

  /** Resolves with the condition Available once it has this status and all processes know it. */
  async whenAvailable(status: string): Promise<{ reason: string; message: string }> {
    let seen = '';
    const condition = await eventually(async () => {
      const { body } = await this.first.client.get(`${apiServices}/${version}.${group}`);
      const found = body.status?.conditions?.find(({ type }: { type: string }) => type === 'Available');
      seen = JSON.stringify(found);
      return found?.status === status ? found : undefined;
    }, `the condition to be ${status}`).catch((error: unknown) => assert.fail(`${error}; it is ${seen}`));
    for (const server of this.cluster.servers) {
      await eventually(async () => {
        const { status: code } = await server.client.get(`/apis/${group}/${version}`);
        return (code === 200) === (status === 'True');
      }, `all processes to know that it is ${status}`);
    }
    return condition;
  }

  async stop(): Promise<void> {
    await this.cluster.stop();
    await this.extension.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }
}
