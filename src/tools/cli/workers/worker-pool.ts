import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { OptionsError } from '../../../base/config/options-error.js';
import type { ServerOptions } from '../../../base/config/server-options.js';
import type { Running } from '../../../base/machinery/lifecycle.js';
import { StartupError } from '../../../base/machinery/startup-error.js';
import type { Timers } from '../../../base/machinery/timers.js';
import type { FlowPage, FlowTable } from '../../../base/observability/flow-table.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { Metrics } from '../../../base/observability/metrics.js';
import { joinTables } from '../../../server/flow-control/flow-dumps.js';
import { rescueConnections } from './connection-handoff.js';
import { Gathering } from './gathering.js';
import { type MachineDatabase, machineDatabase } from './machine-database.js';
import { RestartBackoff } from './restart-backoff.js';
import { hubDescriptor, type MetricsQuery, type ParentMessage, type WorkerMessage } from './worker-messages.js';
import { WorkerMetrics } from './worker-metrics.js';
import { WorkerPulse } from './worker-pulse.js';
import { shareOfWorker } from './worker-share.js';

const workerFile = fileURLToPath(new URL('./worker-main.js', import.meta.url));
/** The time that a worker gets to close its database connections, besides the time for its requests. */
const tidyUpMs = 15_000;
/** How long the database may take to end its last calls. */
const databasePatienceMs = 5_000;

/** One slot of the pool; the process in it may change. */
interface Slot {
  readonly index: number;
  readonly backoff: RestartBackoff;
  worker: Worker | undefined;
  startedAt: number;
  isReady: boolean;
  /** Resolves when nothing runs in the slot and nothing will run in it again. */
  done: Promise<void>;
}

interface WorkerEnd {
  readonly hasServed: boolean;
  readonly code: number | null;
  /** How the worker ended, for the log. */
  readonly reason: string;
  /** The report of a worker that could not start. */
  readonly failure: Error | undefined;
}

/**
 * Processes that serve one port together. The parent accepts connections and hands them out in turn. So a few clients
 * with long-lived connections spread evenly, and a connection that reaches an ending or dead worker goes to another
 * one. The parent listens from the moment the first worker is ready until the last one has ended.
 *
 * The parent has the connections to the database: the workers share its batches (see `DatabaseHub`).
 *
 * A worker that ends is restarted, at growing intervals as long as it keeps ending early. A worker that hangs is killed, so
 * that its clients can go to another one. Workers end when their parent does, however that happens.
 */
export class WorkerPool implements Running {
  private readonly slots: Slot[] = [];
  private readonly stopping = new AbortController();
  private readonly metrics: WorkerMetrics;
  private readonly database: MachineDatabase;
  private readonly flows: Gathering<FlowPage, FlowTable>;

  private constructor(
    private readonly options: ServerOptions,
    private readonly logger: Logger,
    private readonly timers: Timers,
    private readonly count: number,
  ) {
    this.metrics = new WorkerMetrics((index, id, query) =>
      this.send(this.slots[index - 1], { type: 'collect', id, query }),
    );
    this.database = machineDatabase(options, count, logger);
    this.metrics.share(this.database);
    this.flows = new Gathering((index, id, page) =>
      this.send(this.slots[index - 1], { type: 'collectFlows', id, page }),
    );
  }

  /**
   * Resolves when the first worker serves; the others follow by themselves.
   *
   * @param signal ends the wait for the first worker, which may wait for the database.
   *
   * @throws StartupError or OptionsError with the reason when the first worker can't start; nothing runs then.
   */
  static async start(
    options: ServerOptions,
    count: number,
    logger: Logger,
    timers: Timers,
    signal?: AbortSignal,
  ): Promise<{ pool: WorkerPool; url: string }> {
    cluster.schedulingPolicy = cluster.SCHED_RR;
    cluster.setupPrimary({
      exec: workerFile,
      args: [],
      stdio: ['inherit', 'inherit', 'inherit', 'ipc', 'pipe'],
    });
    const pool = new WorkerPool(options, logger, timers, count);
    // One worker is started first: an error that keeps it from starting would stop the others too, and is reported
    // once.
    const giveUp = (): void => void pool.stop();
    signal?.addEventListener('abort', giveUp, { once: true });
    const url = await new Promise<string>((resolve, reject) => {
      pool.open(true, { ready: resolve, failed: reject });
      if (signal?.aborted === true) giveUp();
    })
      .catch(async (error: unknown) => {
        await pool.database.hub.stop(0);
        throw error;
      })
      .finally(() => signal?.removeEventListener('abort', giveUp));
    for (let index = 2; index <= count; index++) pool.open(false);
    logger.info('workers share the port', { url, workers: count });
    return { pool, url };
  }

  /** Asks all workers to stop and waits for them. A worker that does not end in its time is killed. */
  async stop(): Promise<void> {
    this.stopping.abort();
    for (const slot of this.slots) this.send(slot, { type: 'stop' });
    const { shutdownDelayMs, requestTimeoutMs } = this.options.api;
    const patience = new AbortController();
    const late = this.timers.wait(shutdownDelayMs + requestTimeoutMs + tidyUpMs, patience.signal).then(() => {
      if (patience.signal.aborted) return;
      for (const { index, worker } of this.slots) {
        if (worker === undefined) continue;
        this.logger.error('a worker does not stop and is killed', { worker: index });
        worker.process.kill('SIGKILL');
      }
    });
    await Promise.all(this.slots.map(({ done }) => done));
    patience.abort();
    await late;
    await this.database.hub.stop(databasePatienceMs);
  }

  private open(
    isFirst: boolean,
    first?: { readonly ready: (url: string) => void; readonly failed: (error: Error) => void },
  ): void {
    const slot: Slot = {
      index: this.slots.length + 1,
      backoff: new RestartBackoff(),
      worker: undefined,
      startedAt: 0,
      isReady: false,
      done: Promise.resolve(),
    };
    this.slots.push(slot);
    this.metrics.add(slot.index);
    slot.done = this.keepRunning(slot, isFirst, first);
  }

  /** Runs one worker after another in a slot until the pool stops. */
  private async keepRunning(
    slot: Slot,
    isFirst: boolean,
    first?: { readonly ready: (url: string) => void; readonly failed: (error: Error) => void },
  ): Promise<void> {
    let report = first;
    let isFirstRun = true;
    while (!this.stopping.signal.aborted) {
      const ended = await this.runOnce(slot, isFirst && isFirstRun, report?.ready);
      const { failure, reason } = ended;
      if (report !== undefined && !ended.hasServed) {
        this.slots.length = 0;
        report.failed(failure ?? new StartupError(`the worker ended before it served: ${reason}`));
        return;
      }
      report = undefined;
      isFirstRun = false;
      if (this.stopping.signal.aborted) return;
      // A worker that ended because it got a signal itself did nothing wrong.
      const wait = ended.code === 0 ? 0 : slot.backoff.next(this.timers.elapsed() - slot.startedAt);
      this.logger.warn('a worker ended and is restarted', { worker: slot.index, reason, waitMs: wait });
      await this.timers.wait(wait, this.stopping.signal);
      if (!this.stopping.signal.aborted) this.metrics.restarted(slot.index);
    }
  }

  /** Runs one worker from its start to its end. */
  private async runOnce(slot: Slot, isFirst: boolean, ready: ((url: string) => void) | undefined): Promise<WorkerEnd> {
    slot.startedAt = this.timers.elapsed();
    const worker = await fork();
    if (worker instanceof Error) {
      return { hasServed: false, code: null, reason: worker.message, failure: new StartupError(worker.message) };
    }
    rescueConnections(worker);
    this.database.hub.serve(worker.process.stdio[hubDescriptor] as Socket);
    slot.worker = worker;
    slot.isReady = false;
    this.send(slot, { type: 'start', index: slot.index, options: this.optionsOf(slot), isFirst });
    const end = new AbortController();
    const pulse = new WorkerPulse(this.timers, () => this.send(slot, { type: 'ask' }));
    void this.watchOver(slot, worker, pulse, end.signal);
    return new Promise((resolve) => {
      let hasServed = false;
      let failure: Error | undefined;
      worker.on('message', (message: WorkerMessage) => {
        switch (message.type) {
          case 'ready':
            hasServed = true;
            slot.isReady = true;
            ready?.(message.url);
            this.spread(slot);
            pulse.ready();
            // A stop may have been requested while it started.
            if (this.stopping.signal.aborted) this.send(slot, { type: 'stop' });
            return;
          case 'alive':
            pulse.answered();
            return;
          case 'failed':
            failure =
              message.problems === undefined ? new StartupError(message.reason) : new OptionsError(message.problems);
            return;
          case 'collected':
            this.metrics.receive(slot.index, message.id, message.families);
            return;
          case 'gather':
            void this.answerGather(slot, message.id, message.query);
            return;
          case 'collectedFlows':
            this.flows.receive(slot.index, message.id, message.table);
            return;
          case 'gatherFlows':
            void this.answerFlows(slot, message.id, message.page);
            return;
        }
      });
      worker.once('error', (error) => this.logger.warn('fault in a worker process', { worker: slot.index, error }));
      worker.once('exit', (code: number | null, signal: string | null) => {
        end.abort();
        slot.worker = undefined;
        slot.isReady = false;
        this.metrics.lost(slot.index);
        this.flows.lost(slot.index);
        const how = signal === null || signal === '' ? `exit code ${code}` : signal;
        const reason = failure === undefined ? how : `${how}: ${failure.message}`;
        resolve({ hasServed, code, reason, failure });
      });
    });
  }

  /** Kills a worker that hangs. */
  private async watchOver(slot: Slot, worker: Worker, pulse: WorkerPulse, ended: AbortSignal): Promise<void> {
    if (!(await pulse.isLost(ended))) return;
    this.logger.error('a worker does not answer and is killed', {
      worker: slot.index,
      silentMs: pulse.longestSilenceMs,
    });
    worker.process.kill('SIGKILL');
  }

  /**
   * Clients that connected while other workers were starting would stay with the present ones. Once no worker is
   * starting any more, all clients but those of the newest worker reconnect, in turn to all.
   */
  private spread(newest: Slot): void {
    if (this.slots.some(({ worker, isReady }) => worker !== undefined && !isReady)) return;
    for (const slot of this.slots) if (slot !== newest) this.send(slot, { type: 'spread' });
  }

  private optionsOf({ index }: Slot): ServerOptions {
    return { ...this.options, api: shareOfWorker(this.options.api, index, this.count) };
  }

  /** Shows the metrics of what runs in this process along with those of the workers. */
  shareMetrics(own: Pick<Metrics, 'families'>): void {
    this.metrics.share(own);
  }

  private async answerGather(slot: Slot, id: number, query: MetricsQuery): Promise<void> {
    const workers = this.slots.map(({ index }) => index);
    const text = await this.metrics.gather(workers, query).catch((error: unknown) => {
      this.logger.warn('metrics of the workers could not be gathered', { error });
      return undefined;
    });
    this.send(slot, { type: 'gathered', id, text });
  }

  private async answerFlows(slot: Slot, id: number, page: FlowPage): Promise<void> {
    const tables = [
      ...(await this.flows.from(
        this.slots.map(({ index }) => index),
        page,
      )),
    ]
      .sort(([a], [b]) => a - b)
      .map(([worker, table]) => ({ worker, table }));
    this.send(slot, { type: 'gatheredFlows', id, table: tables.length === 0 ? undefined : joinTables(tables) });
  }

  /** Sends a message; false when the slot has no worker. A worker that is ending needs no message. */
  private send(slot: Slot | undefined, message: ParentMessage): boolean {
    const worker = slot?.worker;
    if (worker === undefined || !worker.isConnected()) return false;
    if ((message.type === 'collect' || message.type === 'collectFlows') && slot?.isReady !== true) return false;
    // A full channel also returns false, yet sends later.
    worker.send(message, () => undefined);
    return true;
  }
}

/** A new process, or why there is none: the system may have no resources for it just now. */
async function fork(): Promise<Worker | Error> {
  try {
    const worker = cluster.fork();
    if (worker.process.pid !== undefined) return worker;
    const [error] = (await once(worker, 'error')) as [Error];
    delete cluster.workers?.[worker.id];
    return error;
  } catch (error) {
    return error as Error;
  }
}
