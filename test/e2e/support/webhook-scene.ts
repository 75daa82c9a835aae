import assert from 'node:assert/strict';
import { WebhookServer } from '../../support/webhook-server.js';
import type { ApiClient, ApiResponse } from './api-client.js';
import { questionsUntil } from './questions.js';
import { sharedCluster } from './shared-cluster.js';
import type { TestCluster } from './test-cluster.js';

type Fields = Readonly<Record<string, unknown>>;

const pauseMs = 30;

/** Webhooks in this process, and two API servers that call them for ConfigMaps of a namespace. */
export class WebhookScene {
  /** The path of the API group. */
  static readonly group = '/apis/admissionregistration.example.dev';

  readonly maps: string;
  private configurations = 0;
  /** How many checks it took on each server until a configuration was in force. */
  private readonly questions: number[] = [];

  private constructor(
    readonly hooks: WebhookServer,
    readonly cluster: TestCluster,
    private readonly namespace: string,
  ) {
    this.maps = `/api/v1/namespaces/${namespace}/configmaps`;
  }

  /** @param namespace is made, with the label `team=red` */
  static async start(namespace: string): Promise<WebhookScene> {
    const hooks = await WebhookServer.start(['hook.services.svc']);
    const scene = new WebhookScene(hooks, await sharedCluster('vendor'), namespace);
    const metadata = { name: namespace, labels: { team: 'red' } };
    await WebhookScene.ok(scene.first.post('/api/v1/namespaces', { metadata }));
    return scene;
  }

  async stop(): Promise<void> {
    await this.cluster.stop();
    await this.hooks.stop();
  }

  get first(): ApiClient {
    return this.cluster.first.client;
  }

  get second(): ApiClient {
    return this.cluster.second.client;
  }

  static async ok(sent: Promise<ApiResponse>): Promise<ApiResponse> {
    const answer = await sent;
    assert.ok(answer.status < 300, `${answer.status} ${answer.text}`);
    return answer;
  }

  static rule(fields: Fields = {}): Fields {
    return { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], ...fields };
  }

  static configMap(name: string, hook: string, more: Fields = {}): Fields {
    return { metadata: { name, labels: { hook } }, ...more };
  }

  /** A webhook whose path is its own name; objects select it with the label `hook`. */
  webhook(name: string, fields: Fields = {}): Fields {
    return {
      name: `${name}.hooks.test`,
      clientConfig: { url: this.hooks.url(`/${name}`), caBundle: this.hooks.caBundle },
      rules: [WebhookScene.rule()],
      objectSelector: { matchLabels: { hook: name } },
      sideEffects: 'None',
      admissionReviewVersions: ['v1', 'v1beta1'],
      timeoutSeconds: 10,
      ...fields,
    };
  }

  /**
   * Stores a configuration through the first server and waits until it is in force on both. A further hook, which
   * refuses objects with its own label, shows that.
   */
  async configure(kind: 'mutating' | 'validating', webhooks: readonly Fields[], name?: string): Promise<string> {
    const configuration = name ?? `${this.namespace}-${++this.configurations}`;
    const probe = `probe-${configuration}`;
    this.hooks.on(`/${probe}`, () => ({ allowed: false, status: { code: 418 } }));
    const path = `${WebhookScene.group}/v1/${kind}webhookconfigurations`;
    const body = { metadata: { name: configuration }, webhooks: [...webhooks, this.webhook(probe)] };
    await WebhookScene.ok(this.first.post(path, body));
    for (const client of [this.first, this.second]) {
      const isInForce = async () => {
        const object = { metadata: { name: 'probe', labels: { hook: probe } } };
        return (await client.post(`${this.maps}?dryRun=All`, object)).status === 418;
      };
      this.questions.push(await questionsUntil(isInForce, `${configuration} is in force`, pauseMs));
    }
    return configuration;
  }

  create(hook: string, name = hook, client = this.second): Promise<ApiResponse> {
    return client.post(this.maps, WebhookScene.configMap(name, hook));
  }

  /**
   * Fails if it usually took a second or more until configurations were in force. The median is used, since a busy
   * machine may be late once.
   */
  assertQuick(): void {
    const sorted = this.questions.toSorted((a, b) => a - b);
    assert.ok((sorted[Math.floor(sorted.length / 2)] ?? 0) * pauseMs < 1000, this.questions.join());
  }
}
