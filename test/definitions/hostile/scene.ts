import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { ApiClient, ApiResponse } from '../../e2e/support/api-client.js';
import { eventually, TestCluster, type TestServer, tokens } from '../../e2e/support/test-cluster.js';

export const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Long enough for the followers of definitions to take a change. */
const settleMs = 250;

/** A misbehaviour that a case found. */
export class Fault extends Error {}

/** The measurements of one server since the last query. */
export interface Held {
  /** Longest CPU time of the serving thread between two turns of its event loop, in milliseconds. */
  readonly cpuMs: number;
  /** Longest time of a request for /livez, in milliseconds by the clock. */
  readonly livezMs: number;
}

/** Two servers with control loops, and a well-behaved client of each beside. */
export class HostileScene {
  private constructor(
    readonly cluster: TestCluster,
    private readonly probers: readonly Worker[],
  ) {}

  static async start(): Promise<HostileScene> {
    const report = new URL('../../../bench/hostile/report-held.js', import.meta.url);
    process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --import=${report.href}`;
    const cluster = await TestCluster.start({
      servers: 2,
      controllers: true,
      flags: ['--authorization-mode=RBAC'],
    });
    const probers = await Promise.all(cluster.servers.map(({ url }) => probe(url, cluster.pki.authority)));
    return new HostileScene(cluster, probers);
  }

  get clients(): readonly ApiClient[] {
    return this.cluster.servers.map(({ client }) => client);
  }

  get client(): ApiClient {
    return this.cluster.first.client;
  }

  get other(): ApiClient {
    return this.cluster.second.client;
  }

  /** The measurements of each server since the last call. */
  async held(): Promise<readonly Held[]> {
    await delay(settleMs);
    return Promise.all(
      this.cluster.servers.map(async (server, i) => ({
        cpuMs: await heldBy(server),
        livezMs: await livezOf(this.probers[i] as Worker),
      })),
    );
  }

  async stop(): Promise<void> {
    await Promise.all(this.probers.map((prober) => prober.terminate()));
    await this.cluster.stop();
  }
}

async function probe(url: string, ca: string): Promise<Worker> {
  const file = fileURLToPath(new URL('./livez.worker.js', import.meta.url));
  const worker = new Worker(file, { workerData: { url, ca, token: tokens.admin }, execArgv: [] });
  await once(worker, 'message');
  return worker;
}

async function livezOf(prober: Worker): Promise<number> {
  prober.postMessage('take');
  const [{ longest, failed }] = (await once(prober, 'message')) as [{ longest: number; failed: string | undefined }];
  if (failed !== undefined) throw new Fault(`/livez: ${failed}`);
  return longest;
}

async function heldBy(server: TestServer): Promise<number> {
  const seen = server.log.length;
  server.process.kill('SIGUSR2');
  return eventually(
    () => {
      if (server.process.exitCode !== null) throw new Fault(`a server ended: ${server.log.slice(-2_000)}`);
      const found = /^held (\{.*\})$/m.exec(server.log.slice(seen));
      return found === null ? undefined : (JSON.parse(found[1] as string) as { ms: number }).ms;
    },
    'the report of the server',
    120_000,
  );
}

/** The message of a Status, or the text itself. */
export function messageOf({ text, body }: ApiResponse): string {
  return ((body as { message?: string } | undefined)?.message ?? text).slice(0, 300);
}

/** Clients of the reference know this fault of a scale without a wanted number as an internal one. */
const scaleFault = /the spec replicas field ".*" does not exist/;

/** No answer may blame the server, and every refusal is a Status. */
export function checkAnswer(what: string, answer: ApiResponse): ApiResponse {
  const { status, body, text } = answer;
  const hasReason = status === 500 && scaleFault.test(messageOf(answer));
  if (status >= 500 && !hasReason) throw new Fault(`${what}: ${status} ${messageOf(answer)}`);
  if (status >= 400 && body?.kind !== 'Status') throw new Fault(`${what}: ${status} without a Status: ${text}`);
  return answer;
}

export function expectStatus(what: string, answer: ApiResponse, ...allowed: readonly number[]): ApiResponse {
  checkAnswer(what, answer);
  if (allowed.includes(answer.status)) return answer;
  throw new Fault(`${what}: ${answer.status} instead of ${allowed.join(' or ')}: ${messageOf(answer)}`);
}

export function expectEqual(what: string, found: unknown, expected: unknown): void {
  if (JSON.stringify(found) === JSON.stringify(expected)) return;
  throw new Fault(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
}
