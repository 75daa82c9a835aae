import { setTimeout as delay } from 'node:timers/promises';
import { makeRequest } from '../support/certificate-requests.js';
import type { Plane } from './plane.js';
import { type Answer, Requester } from './requester.js';

/** The steps of an honest tenant, under their names in the table. */
export const stepNames = [
  'deployed',
  'scaled',
  'rolled out',
  'cascade',
  'namespace made',
  'signed',
  'quota counted',
  'namespace removed',
] as const;
export type StepName = (typeof stepNames)[number];

/** The duration of a step; with a fault if it did not complete in time. */
export interface Step {
  readonly name: StepName;
  readonly at: number;
  readonly ms: number;
  readonly fault?: string;
}

/** The namespace of the deployments. */
export const honestWorkNamespace = 'honest-work';
/** The label and the taint of the node on which they run. */
export const honestNode = 'honest';
const patienceMs = 60_000;
const pollMs = 100;
const labels = { app: 'honest' };
let rounds = 0;

type Look = (requester: Requester) => Promise<boolean>;

/**
 * Honest tenants whose objects the control loops handle: a deployment that is created, scaled, rolled out and deleted
 * with its dependents, and a namespace with a quota and a certificate. One round follows another until the end.
 */
export class HonestWork {
  readonly steps: Step[] = [];
  private readonly requesters: readonly Requester[];
  private readonly rounds: Promise<unknown>;
  private isOver = false;
  private turn = 0;

  constructor(
    private readonly plane: Plane,
    token: string,
  ) {
    this.requesters = plane.urls.map((url) => new Requester(url, token));
    this.rounds = Promise.all([
      this.repeat((round) => this.deploymentRound(round)),
      this.repeat((round) => this.namespaceRound(round)),
    ]);
  }

  between(name: StepName, from: number, until: number): Step[] {
    return this.steps.filter((step) => step.name === name && step.at >= from && step.at < until);
  }

  /** Resolves when each step has completed once more since `from`, or after this many milliseconds. */
  async allSince(from: number, withinMs: number): Promise<void> {
    const deadline = performance.now() + withinMs;
    const isDone = () => stepNames.every((name) => this.between(name, from, Number.POSITIVE_INFINITY).length > 0);
    while (!isDone() && performance.now() < deadline) await delay(pollMs);
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await this.rounds;
    for (const requester of this.requesters) requester.close();
  }

  private async repeat(round: (number: number) => Promise<void>): Promise<void> {
    while (!this.isOver) {
      // A round that can't begin because a server is away is tried again.
      await round(rounds++).catch(() => delay(1000));
    }
  }

  private get requester(): Requester {
    return this.requesters[this.turn++ % this.requesters.length] as Requester;
  }

  /** Makes a request, again if the server was busy, and waits until the request has had its effect. */
  private async step(name: StepName, act: () => Promise<unknown>, look: Look): Promise<void> {
    const at = performance.now();
    const deadline = at + patienceMs;
    let last = '';
    for (let isDone = false; performance.now() < deadline && !this.isOver; await delay(pollMs)) {
      try {
        if (!isDone) await act();
        isDone = true;
        if (await look(this.requester)) {
          this.steps.push({ name, at, ms: performance.now() - at });
          return;
        }
        last = 'not in time';
      } catch (error) {
        last = String(error);
      }
    }
    if (this.isOver) throw new Error('over');
    this.steps.push({ name, at, ms: performance.now() - at, fault: last });
  }

  private async deploymentRound(round: number): Promise<void> {
    const base = `/apis/apps/v1/namespaces/${honestWorkNamespace}/deployments`;
    const path = `${base}/web-${round}`;
    const has = (replicas: number): Look => {
      return async (requester) => {
        const { metadata, spec, status } = (await requester.must({ method: 'GET', path })).body;
        return (
          spec.replicas === replicas &&
          status.observedGeneration === metadata.generation &&
          status.availableReplicas === replicas &&
          status.updatedReplicas === replicas &&
          status.replicas === replicas
        );
      };
    };
    const own = { ...labels, round: `r-${round}` };
    const post = { method: 'POST', path: base, body: this.deployment(`web-${round}`, own) };
    await this.step('deployed', () => this.requester.must(post, 201, 409), has(3));
    const scale = { method: 'PATCH', path, body: { spec: { replicas: 5 } } };
    await this.step('scaled', () => this.requester.must(scale), has(5));
    const template = { metadata: { annotations: { rolled: 'yes' } } };
    const roll = { method: 'PATCH', path, body: { spec: { template } } };
    await this.step('rolled out', () => this.requester.must(roll), has(5));
    const remove = { method: 'DELETE', path, body: { propagationPolicy: 'Foreground' } };
    const pods = `/api/v1/namespaces/${honestWorkNamespace}/pods?labelSelector=round%3Dr-${round}`;
    await this.step(
      'cascade',
      () => this.requester.must(remove, 200, 202, 404),
      async (requester) =>
        (await requester.must({ method: 'GET', path }, 200, 404)).status === 404 &&
        (await requester.must({ method: 'GET', path: pods })).body.items.length === 0,
    );
  }

  private deployment(name: string, own: Readonly<Record<string, string>>): object {
    const tolerations = [{ key: honestNode, operator: 'Exists' }];
    const node = this.plane.hasScheduler
      ? { nodeSelector: { [honestNode]: 'yes' }, tolerations }
      : { nodeName: 'sim-0' };
    const containers = [{ name: 'c', image: 'web', resources: { requests: { cpu: '10m', memory: '10Mi' } } }];
    return {
      metadata: { name },
      spec: {
        replicas: 3,
        selector: { matchLabels: own },
        template: { metadata: { labels: own }, spec: { terminationGracePeriodSeconds: 0, containers, ...node } },
      },
    };
  }

  private async namespaceRound(round: number): Promise<void> {
    const name = `work-${round}`;
    const path = `/api/v1/namespaces/${name}`;
    const account = { method: 'GET', path: `${path}/serviceaccounts/default` };
    await this.step(
      'namespace made',
      () => this.requester.must({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name } } }, 201, 409),
      async (requester) => (await requester.must(account, 200, 404)).status === 200,
    );
    await this.sign(name);
    await this.countQuota(path);
    const map = { metadata: { name: 'content' }, data: { text: 'x' } };
    await this.requester.must({ method: 'POST', path: `${path}/configmaps`, body: map }, 201, 409);
    await this.step(
      'namespace removed',
      () => this.requester.must({ method: 'DELETE', path }, 200, 202, 404, 409),
      async (requester) => (await requester.must({ method: 'GET', path }, 200, 404)).status === 404,
    );
  }

  private async sign(name: string): Promise<void> {
    const base = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
    const request = Buffer.from(await makeRequest({ subject: `CN=${name}` })).toString('base64');
    const signerName = 'kubernetes.io/kube-apiserver-client';
    const body = { metadata: { name }, spec: { request, signerName, usages: ['client auth'] } };
    const path = `${base}/${name}`;
    const approve = async (): Promise<Answer> => {
      await this.requester.must({ method: 'POST', path: base, body }, 201, 409);
      const { body: made } = await this.requester.must({ method: 'GET', path });
      const conditions = [{ type: 'Approved', status: 'True', reason: 'Honest', message: 'yes' }];
      const approved = { ...made, status: { ...made.status, conditions } };
      return this.requester.must({ method: 'PUT', path: `${path}/approval`, body: approved }, 200, 409);
    };
    await this.step('signed', approve, async (requester) => {
      const { status } = (await requester.must({ method: 'GET', path })).body;
      return status?.certificate !== undefined;
    });
    await this.requester.must({ method: 'DELETE', path }, 200, 404);
  }

  /** The step is complete when the loop has counted the new quota and the secret that existed before. */
  private async countQuota(path: string): Promise<void> {
    const quota = { metadata: { name: 'q' }, spec: { hard: { 'count/secrets': '10' } } };
    const used =
      (wanted: string): Look =>
      async (requester) => {
        const { body } = await requester.must({ method: 'GET', path: `${path}/resourcequotas/q` });
        return body.status?.used?.['count/secrets'] === wanted;
      };
    const secret = { metadata: { name: 's' } };
    await this.step(
      'quota counted',
      async () => {
        await this.requester.must({ method: 'POST', path: `${path}/secrets`, body: secret }, 201, 409);
        await this.requester.must({ method: 'POST', path: `${path}/resourcequotas`, body: quota }, 201, 409);
      },
      used('1'),
    );
  }
}
