import type { IncomingMessage, ServerResponse } from 'node:http';
import { uptime } from 'node:os';
import { relative } from 'node:path';
import { podUid } from '../pods/pod-form.js';
import { isRunning, runsOf } from '../pods/runtime-pod.js';
import { openFileInside } from '../volumes/inside.js';
import { agentMetrics } from './agent-metrics.js';
import type { AgentServerDependencies } from './agent-server-dependencies.js';
import { CallerRefusal } from './caller-refusal.js';
import { containerMetrics } from './container-metrics.js';
import { logQueryOf, readLog } from './log-reader.js';
import { resourceMetrics } from './resource-metrics.js';
import { containerPlace, runningContainer } from './runtime-streams.js';
import { statsSummary } from './stats-summary.js';

const plainText = { 'content-type': 'text/plain; charset=utf-8' };
const json = { 'content-type': 'application/json' };
const metricsText = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' };
/** How often a followed log is checked for new lines. */
const followMs = 250;

/** Responses of the agent to authorized requests. */
export class AgentPages {
  constructor(
    private readonly dependencies: AgentServerDependencies,
    private readonly stopping: AbortSignal,
  ) {}

  /** @throws CallerRefusal */
  async answer(request: IncomingMessage, url: URL, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const { runtime, manager, configuration, debugging, healthProblem } = this.dependencies;
    const path = url.pathname.replace(/(.)\/$/, '$1');
    const { what } = containerPlace(path);
    if (what === 'run' && debugging) return this.run(request, url, response, signal);
    if (request.method !== 'GET' && request.method !== 'HEAD') throw new CallerRefusal(405, 'Method Not Allowed');
    switch (path) {
      case '/healthz':
      case '/healthz/ping':
      case '/healthz/log':
      case '/healthz/syncloop': {
        const problem = healthProblem();
        if (problem !== undefined) throw new CallerRefusal(500, `[-]syncloop failed: ${problem}`);
        response.writeHead(200, plainText).end('ok');
        return;
      }
      case '/pods':
        send200(response, json, JSON.stringify(podList(manager.pods())));
        return;
      case '/runningpods':
        send200(response, json, JSON.stringify(podList(await this.runningPods())));
        return;
      case '/configz':
        send200(response, json, JSON.stringify({ kubeletconfig: configuration }));
        return;
      case '/metrics':
        send200(response, metricsText, await agentMetrics(this.dependencies));
        return;
      case '/metrics/resource':
        send200(response, metricsText, await resourceMetrics(runtime));
        return;
      case '/metrics/cadvisor':
        send200(response, metricsText, await containerMetrics(runtime, this.dependencies.machine));
        return;
      case '/metrics/probes':
        send200(response, metricsText, this.dependencies.probeCounts.text());
        return;
      case '/stats/summary':
        send200(response, json, JSON.stringify(await this.summary()));
        return;
    }
    if (what === 'containerLogs' && debugging) return this.sendLog(url, response, signal);
    throw new CallerRefusal(404, '404 page not found');
  }

  private summary() {
    const { runtime, nodeName, rootFolder, timers, manager, volumeUse } = this.dependencies;
    const now = timers.now();
    return statsSummary({
      ...{ runtime, nodeName, rootFolder, now, volumeUse },
      bootTime: now - uptime() * 1000,
      startTimeOf: (uid) => manager.worker(uid)?.status?.startTime ?? undefined,
    });
  }

  /** The pods with running containers, as the runtime knows them. */
  private async runningPods() {
    const found = [];
    for (const { uid, namespace, name } of this.dependencies.view.pods()) {
      const { containers } = await this.dependencies.view.read(uid, namespace, name);
      const running = containers.filter(isRunning);
      if (running.length === 0) continue;
      const spec = {
        containers: running.map(({ metadata, image }) => ({ name: metadata?.name ?? '', image: image?.image ?? '' })),
      };
      found.push({ metadata: { name, namespace, uid }, spec, status: {} });
    }
    return found;
  }

  /** Runs a command to its end and responds with its output. */
  private async run(request: IncomingMessage, url: URL, response: ServerResponse, signal: AbortSignal): Promise<void> {
    if (request.method !== 'POST') throw new CallerRefusal(405, 'Method Not Allowed');
    const { namespace, name, container } = containerPlace(url.pathname);
    const { id } = await runningContainer(this.dependencies, namespace, name, container);
    const command = (url.searchParams.get('cmd') ?? '').split(' ').filter((word) => word !== '');
    if (command.length === 0) throw new CallerRefusal(400, 'the query needs a command: cmd');
    const { stdout, stderr, exitCode } = await this.dependencies.runtime.execWhole(id, command, signal);
    response.writeHead(exitCode === 0 ? 200 : 500, plainText);
    response.end(Buffer.concat([stdout, stderr]));
  }

  private async sendLog(url: URL, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const { manager, view, timers } = this.dependencies;
    const { namespace, name, container } = containerPlace(url.pathname);
    const worker = manager.find(namespace, name);
    if (worker === undefined) throw new CallerRefusal(404, `pod "${name}" not found`);
    const uid = podUid(worker.declaration);
    const { spec, metadata } = worker.declaration;
    const declared = [...(spec.containers ?? []), ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])];
    if (!declared.some((each) => each.name === container)) {
      throw new CallerRefusal(404, `container "${container}" not found in pod "${name}"`);
    }
    const runs = runsOf(await view.read(uid, namespace, name), container);
    const isPrevious = url.searchParams.get('previous') === 'true';
    const dead = runs.filter((run) => !isRunning(run));
    const run = isPrevious ? (runs[0] !== undefined && isRunning(runs[0]) ? dead[0] : (dead[1] ?? dead[0])) : runs[0];
    if (run === undefined || run.logPath === '') {
      const waiting = worker.status?.containerStatuses?.find((each) => each.name === container)?.state.waiting?.reason;
      const text = isPrevious
        ? `previous terminated container "${container}" in pod "${metadata.name}" not found`
        : `container "${container}" in pod "${metadata.name}" is waiting to start: ${waiting ?? 'ContainerCreating'}`;
      throw new CallerRefusal(400, text);
    }
    const { logFolder } = this.dependencies;
    // Pods may mount the folder of logs: no link there is followed to a place outside.
    const path = relative(logFolder, run.logPath);
    const ended = AbortSignal.any([signal, this.stopping]);
    const source = {
      open: () => openFileInside(logFolder, path),
      isLive: async () =>
        (await this.dependencies.runtime.containerStatus(run.id))?.state === run.state && isRunning(run),
      wait: () => timers.wait(followMs, ended),
      signal: ended,
    };
    const pieces = readLog(source, logQueryOf(url.searchParams, timers.now()));
    // The first piece shows whether the log exists.
    const first = await pieces.next().catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return { done: true as const, value: undefined };
      throw error;
    });
    response.writeHead(200, plainText);
    response.flushHeaders();
    if (!first.done) await send(response, first.value, signal);
    if (!first.done) for await (const piece of pieces) await send(response, piece, signal);
    response.end();
  }
}

/** The content is complete before the head is sent, so a failure before that gets its own response. */
function send200(response: ServerResponse, headers: Readonly<Record<string, string>>, content: string): void {
  response.writeHead(200, headers).end(content);
}

/** Waits for a slow client. */
async function send(response: ServerResponse, piece: Buffer, signal: AbortSignal): Promise<void> {
  if (response.write(piece) || signal.aborted) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      response.removeListener('drain', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    response.once('drain', done);
    signal.addEventListener('abort', done, { once: true });
  });
}

function podList(items: readonly object[]): object {
  return { kind: 'PodList', apiVersion: 'v1', metadata: {}, items };
}
