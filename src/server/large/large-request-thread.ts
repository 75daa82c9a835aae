import { Worker } from 'node:worker_threads';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { serviceUnavailableError, timeoutError, tooManyRequestsError } from '../../base/machinery/status-error.js';
import { tenantOf } from '../../base/machinery/tenant-of.js';
import type { Logger } from '../../base/observability/logger.js';
import type { LargeEvent } from '../endpoints/handlers/watch-event.js';
import type { LargeRequests } from '../endpoints/large-requests.interface.js';
import type { HttpRequestContext } from '../endpoints/request-info/http-request-context.js';
import { FairQueue } from './fair-queue.js';
import { forward } from './forward.js';
import type {
  FromThread,
  LargeRequestAnswer,
  LargeRequestMessage,
  LargeRequestThreadSettings,
  ToThread,
} from './large-request-messages.js';
import { LargeRequestThreadCounts } from './large-request-thread-counts.js';
import { LargeRequestThreadHost, type LargeRequestThreadHostDependencies } from './large-request-thread-host.js';

export interface LargeRequestThreadOptions {
  /** An idle thread is terminated after this time, in milliseconds. */
  readonly idleMs: number;
  /**
   * The thread's CPU time limit for one request, in milliseconds; after that the thread is terminated along with the
   * request. Because it is CPU time, other load on the machine does not count.
   */
  readonly requestCpuMs: number;
  /** Heap limit of the thread, in MiB. */
  readonly memoryMb: number;
}

export const largeRequestThreadDefaults: LargeRequestThreadOptions = {
  idleMs: 300_000,
  requestCpuMs: 30_000,
  memoryMb: 1024,
};

interface Job {
  readonly id: number;
  readonly message: Extract<ToThread, { readonly type: 'request' | 'event' }>;
  /** Buffers of the message that are transferred to the thread instead of copied. */
  readonly transfer: readonly ArrayBuffer[];
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
  /** Called when the job begins to wait for a server outside, and when it no longer does. */
  readonly onRemote?: (isRemote: boolean) => void;
  /** The thread's total CPU time when it got the job, in milliseconds; undefined until it is known. */
  begunAt: number | undefined;
}

interface RunningJob {
  readonly job: Job;
  readonly owner: string;
  /** Whether the job waits for a server outside, so that others run meanwhile. */
  isRemote: boolean;
}

/**
 * The owner of all watch events: they belong to no single user, so all of them together take turns like one user. No
 * user has this name.
 */
const ownerOfEvents = '';
/** Limits within which users take turns. */
const queueLimits = {
  running: 4,
  runningOfOwner: 2,
  remoteOfOwner: 16,
  waiting: 96,
  waitingOfOwner: 24,
  unlimitedOwner: ownerOfEvents,
};

/** How often the thread's CPU time is checked, in milliseconds. */
const checkMs = 1_000;

interface RunningThread {
  readonly kind: 'running';
  readonly thread: Worker;
  readonly host: LargeRequestThreadHost;
}

/** `none`: the next request starts a thread; `stopped`: no more requests are accepted. */
type ThreadState = { readonly kind: 'none' } | RunningThread | { readonly kind: 'stopped' };

/**
 * Processes requests about large objects in another thread, so that they don't hold up other requests. The thread runs
 * the same code on the storage of this process. It starts with the first request and is terminated after being idle for
 * a while. When a request takes too much time or memory, the thread is terminated; the next request gets a new one.
 */
export class LargeRequestThread implements LargeRequests {
  private state: ThreadState = { kind: 'none' };
  private readonly queue = new FairQueue<Job>(queueLimits);
  private readonly running = new Map<number, RunningJob>();
  private idle: NodeJS.Timeout | undefined;
  private lastId = 0;
  /** The metrics of the threads' requests. */
  readonly counts = new LargeRequestThreadCounts();

  constructor(
    private readonly settings: LargeRequestThreadSettings,
    private readonly dependencies: LargeRequestThreadHostDependencies,
    private readonly logger: Pick<Logger, 'warn'>,
    private readonly options: LargeRequestThreadOptions = largeRequestThreadDefaults,
  ) {}

  /** Whether the thread is running. */
  get isRunning(): boolean {
    return this.state.kind === 'running';
  }

  forward(
    context: HttpRequestContext,
    request: FastifyRequest,
    reply: FastifyReply,
    definitionsAt: bigint,
  ): Promise<void> {
    return forward(this, context, request, reply, definitionsAt);
  }

  /**
   * Processes a request. Rejects with a 429 when too many requests wait, a 504 or 503 when the thread had to be
   * terminated, and an AbortError when `signal` is aborted before the request's turn. A request aborted later ends at
   * its next call to the process; its CPU time until then is limited.
   *
   * @param onRemote is called when the request begins to wait for a server outside, and when it no longer does; other
   *   requests run meanwhile
   */
  answer(
    request: LargeRequestMessage,
    signal: AbortSignal,
    onRemote?: (isRemote: boolean) => void,
  ): Promise<LargeRequestAnswer> {
    return new Promise((resolve, reject) => {
      const id = ++this.lastId;
      const message = { type: 'request', id, request } as const;
      const transfer = [request.body.buffer];
      const job: Job = { id, message, transfer, resolve, reject, begunAt: undefined, ...(onRemote && { onRemote }) };
      const owner = tenantOf(request.user.name);
      if (!this.add(owner, job)) return;
      signal.addEventListener('abort', () => {
        if (this.queue.remove(owner, job)) reject(signal.reason as Error);
        else if (this.running.has(id)) this.thread?.postMessage({ type: 'left', id } satisfies ToThread);
      });
      this.advance();
    });
  }

  /**
   * Encodes a watch event. It always fits into the queue, as each watch waits for at most one event. Rejects with a 504
   * or 503 when the thread had to be terminated.
   */
  encode(event: LargeEvent): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const id = ++this.lastId;
      const finish = (bytes: Uint8Array<ArrayBuffer>) => resolve(Buffer.from(bytes.buffer));
      const message = { type: 'event', id, event } as const;
      const job: Job = { id, message, transfer: [], resolve: finish, reject, begunAt: undefined };
      if (this.add(ownerOfEvents, job)) this.advance();
    });
  }

  /** Terminates the thread and refuses its requests. */
  async stop(): Promise<void> {
    clearTimeout(this.idle);
    const { thread } = this;
    this.giveUp(() => serviceUnavailableError('the server is shutting down'));
    this.state = { kind: 'stopped' };
    await thread?.terminate();
  }

  private get thread(): Worker | undefined {
    return this.state.kind === 'running' ? this.state.thread : undefined;
  }

  /** Adds the job to the queue; returns false when it was rejected. */
  private add(owner: string, job: Job): boolean {
    if (this.state.kind === 'stopped') {
      job.reject(serviceUnavailableError('the server is shutting down'));
      return false;
    }
    const refused = this.queue.add(owner, job);
    refused?.reject(tooManyRequestsError(1));
    return refused !== job;
  }

  private advance(): void {
    clearTimeout(this.idle);
    for (let next = this.queue.next(); next !== undefined; next = this.queue.next()) {
      const { job } = next;
      this.running.set(job.id, { ...next, isRemote: false });
      const { thread } = this.state.kind === 'running' ? this.state : this.start();
      thread.postMessage(job.message, job.transfer);
    }
    if (this.queue.isIdle && this.isRunning) {
      this.idle = setTimeout(() => this.giveUp(() => new Error('idle')), this.options.idleMs).unref();
    }
  }

  private start(): RunningThread {
    const thread = new Worker(new URL('./large-request.thread.js', import.meta.url), {
      workerData: this.settings,
      resourceLimits: { maxOldGenerationSizeMb: this.options.memoryMb },
    });
    thread.unref();
    const host = new LargeRequestThreadHost(this.dependencies, thread);
    thread.on('message', (message: FromThread) => {
      if (thread !== this.thread) return;
      if (message.type === 'answer') this.finish(message.id, ({ resolve }) => resolve(message.answer as never));
      else if (message.type === 'encoded') this.finish(message.id, ({ resolve }) => resolve(message.bytes as never));
      else if (message.type === 'failed') this.finish(message.id, ({ reject }) => reject(new Error(message.message)));
      else if (message.type === 'remote') this.setRemote(message.id, message.isRemote);
      else if (message.type === 'counted') this.counts.add(message.counts);
      else host.receive(message);
    });
    // The cause is usually a lack of memory.
    thread.on('error', (error) => this.lose(thread, error));
    thread.on('exit', (code) => this.lose(thread, new Error(`it exited with code ${code}`)));
    const check = setInterval(() => void this.checkTime(thread), checkMs).unref();
    thread.once('exit', () => clearInterval(check));
    const running = { kind: 'running', thread, host } as const;
    this.state = running;
    return running;
  }

  private lose(thread: Worker, error: unknown): void {
    if (thread !== this.thread) return;
    this.logger.warn('the thread for large requests ended', { error });
    const isMemory = (error as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY';
    const why = isMemory ? 'the request took too much memory' : 'the thread that worked on the request ended';
    this.giveUp(() => timeoutError(`${why}; its outcome is not known`, 1));
    this.advance();
  }

  private setRemote(id: number, isRemote: boolean): void {
    const entry = this.running.get(id);
    if (entry === undefined || entry.isRemote === isRemote) return;
    entry.isRemote = isRemote;
    // Whatever the thread computes while the job waits is not its doing.
    entry.job.begunAt = undefined;
    this.queue.setRemote(entry.owner, isRemote);
    entry.job.onRemote?.(isRemote);
    if (isRemote) this.advance();
  }

  private done({ owner, isRemote }: RunningJob): void {
    if (isRemote) this.queue.setRemote(owner, false);
    this.queue.done(owner);
  }

  private finish(id: number, settle: (job: Job) => void): void {
    const entry = this.running.get(id);
    if (entry === undefined) return;
    this.running.delete(id);
    this.done(entry);
    // The CPU time so far was used by the finished job, so the measurement starts again for the others.
    for (const { job } of this.running.values()) job.begunAt = undefined;
    settle(entry.job);
    this.advance();
  }

  private async checkTime(thread: Worker): Promise<void> {
    if (this.running.size === 0) return;
    // The CPU time of a terminated thread is unknown.
    const usage = await thread.cpuUsage().catch(() => undefined);
    if (usage === undefined || thread !== this.thread) return;
    const now = (usage.user + usage.system) / 1000;
    for (const { job, isRemote } of this.running.values()) {
      if (isRemote) continue;
      job.begunAt ??= now;
      if (now - job.begunAt <= this.options.requestCpuMs) continue;
      this.tooSlow(job);
      return;
    }
  }

  private tooSlow(job: Job): void {
    const { message } = job;
    const about =
      message.type === 'event'
        ? { event: message.event.resource }
        : { method: message.request.method, path: message.request.url.split('?')[0] };
    this.logger.warn('a large request took too long', about);
    this.giveUp(() => timeoutError('the request took too long; its outcome is not known', 1));
    this.advance();
  }

  /** Terminates the thread and rejects its running jobs. Waiting jobs are left to the next thread. */
  private giveUp(error: () => Error): void {
    const { state } = this;
    this.state = { kind: 'none' };
    void this.counts.threadEnded();
    for (const entry of [...this.running.values()]) {
      this.done(entry);
      entry.job.reject(error());
    }
    this.running.clear();
    if (state.kind !== 'running') return;
    state.host.fail(new Error('the thread for large requests ended'));
    void state.thread.terminate();
  }
}
