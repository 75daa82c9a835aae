import { Worker } from 'node:worker_threads';
import type { LargeEvent } from '../endpoints/handlers/watch-form.js';
import { serviceUnavailableError, timeoutError, tooManyRequestsError } from '../machinery/status-error.js';
import type { Logger } from '../observability/logger.js';
import { FairQueue } from './fair-queue.js';
import { LaneHost, type LaneParts } from './lane-host.js';
import type { FromThread, LaneAnswer, LaneRequest, LaneSettings, ToThread } from './lane-messages.js';

export interface LaneOptions {
  /** A thread that had nothing to do for so long ends, in milliseconds. */
  readonly idleMs: number;
  /**
   * The thread may compute for so long while one request is under way, in milliseconds; then it ends with it. Time of the
   * processor, so that a busy machine is no reason.
   */
  readonly requestCpuMs: number;
  /** Memory of the thread for objects, in MiB. */
  readonly memoryMb: number;
}

export const laneDefaults: LaneOptions = { idleMs: 300_000, requestCpuMs: 30_000, memoryMb: 1024 };

interface Job {
  readonly id: number;
  readonly message: Extract<ToThread, { readonly type: 'request' | 'event' }>;
  /** Buffers of the message that go to the thread instead of being copied. */
  readonly transfer: readonly ArrayBuffer[];
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
  /** What the thread had computed when it got the job, in milliseconds; undefined until that is known. */
  begunAt: number | undefined;
}

/** Events are not one user's: they take turns with the requests of all users as those of one do. No user has the name. */
const ownerOfEvents = '';
/** Requests of one user take turns with those of others. */
const queueLimits = {
  running: 4,
  runningOfOwner: 2,
  waiting: 96,
  waitingOfOwner: 24,
  unlimitedOwner: ownerOfEvents,
};

/** How often it is looked at how much a thread computes. */
const checkMs = 1_000;

/**
 * Answers requests about large objects in another thread, which works as this process does and has its storage, so that
 * their time is not that of all other requests. The thread starts with the first request and ends when it has been idle
 * for a while. A request that takes too much time or memory ends the thread, and the next one gets a new one.
 */
export class LargeLane {
  private thread: Worker | undefined;
  private host: LaneHost | undefined;
  private readonly queue = new FairQueue<Job>(queueLimits);
  private readonly running = new Map<number, { readonly job: Job; readonly owner: string }>();
  private idle: NodeJS.Timeout | undefined;
  private lastId = 0;
  private isStopped = false;

  constructor(
    private readonly settings: LaneSettings,
    private readonly parts: LaneParts,
    private readonly logger: Pick<Logger, 'warn'>,
    private readonly options: LaneOptions = laneDefaults,
  ) {}

  /** Whether there is a thread now. */
  get isRunning(): boolean {
    return this.thread !== undefined;
  }

  /**
   * Answers a request. Rejects with a 429 when too many wait, a 504 or 503 when the thread had to be given up, an
   * AbortError when `signal` is aborted before its turn has come. One that is aborted later ends as soon as it asks for
   * anything; what it computes until then is bounded.
   */
  answer(request: LaneRequest, signal: AbortSignal): Promise<LaneAnswer> {
    return new Promise((resolve, reject) => {
      const id = ++this.lastId;
      const message = { type: 'request', id, request } as const;
      const job: Job = { id, message, transfer: [request.body.buffer], resolve, reject, begunAt: undefined };
      const owner = request.user.name;
      if (!this.add(owner, job)) return;
      signal.addEventListener('abort', () => {
        if (this.queue.remove(owner, job)) reject(signal.reason as Error);
        else if (this.running.has(id)) this.thread?.postMessage({ type: 'left', id } satisfies ToThread);
      });
      this.advance();
    });
  }

  /**
   * Encodes an event of a watch. It always finds room: there are as many as watches that wait for one. Rejects with a 504
   * or 503 when the thread had to be given up.
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

  /** Ends the thread; requests under way are refused. */
  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.idle);
    const { thread } = this;
    this.giveUp(() => serviceUnavailableError('the server is shutting down'));
    await thread?.terminate();
  }

  /** Whether the job waits for its turn now; else it was rejected. */
  private add(owner: string, job: Job): boolean {
    if (this.isStopped) {
      job.reject(serviceUnavailableError('the server is shutting down'));
      return false;
    }
    if (this.queue.add(owner, job)) return true;
    job.reject(tooManyRequestsError(1));
    return false;
  }

  private advance(): void {
    clearTimeout(this.idle);
    for (let next = this.queue.next(); next !== undefined; next = this.queue.next()) {
      const { job } = next;
      this.running.set(job.id, next);
      const thread = this.thread ?? this.start();
      thread.postMessage(job.message, job.transfer);
    }
    if (this.queue.isIdle && this.thread !== undefined) {
      this.idle = setTimeout(() => this.giveUp(() => new Error('idle')), this.options.idleMs).unref();
    }
  }

  private start(): Worker {
    const thread = new Worker(new URL('./lane-thread.js', import.meta.url), {
      workerData: this.settings,
      resourceLimits: { maxOldGenerationSizeMb: this.options.memoryMb },
    });
    thread.unref();
    const host = new LaneHost(this.parts, thread);
    thread.on('message', (message: FromThread) => {
      if (thread !== this.thread) return;
      if (message.type === 'answer') this.finish(message.id, ({ resolve }) => resolve(message.answer as never));
      else if (message.type === 'encoded') this.finish(message.id, ({ resolve }) => resolve(message.bytes as never));
      else if (message.type === 'failed') this.finish(message.id, ({ reject }) => reject(new Error(message.message)));
      else host.receive(message);
    });
    // Out of memory, mostly.
    thread.on('error', (error) => this.lose(thread, error));
    thread.on('exit', (code) => this.lose(thread, new Error(`it exited with code ${code}`)));
    this.thread = thread;
    this.host = host;
    const check = setInterval(() => void this.checkTime(thread), checkMs).unref();
    thread.once('exit', () => clearInterval(check));
    return thread;
  }

  private lose(thread: Worker, error: unknown): void {
    if (thread !== this.thread) return;
    this.logger.warn('the thread for large requests ended', { error });
    const isMemory = (error as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY';
    const why = isMemory ? 'the request took too much memory' : 'the thread that worked on the request ended';
    this.giveUp(() => timeoutError(`${why}; its outcome is not known`, 1));
    this.advance();
  }

  private finish(id: number, settle: (job: Job) => void): void {
    const entry = this.running.get(id);
    if (entry === undefined) return;
    this.running.delete(id);
    this.queue.done(entry.owner);
    // What was computed until now was for this one.
    for (const { job } of this.running.values()) job.begunAt = undefined;
    settle(entry.job);
    this.advance();
  }

  private async checkTime(thread: Worker): Promise<void> {
    if (this.running.size === 0) return;
    // Ended meanwhile: nothing is known of it.
    const usage = await thread.cpuUsage().catch(() => undefined);
    if (usage === undefined || thread !== this.thread) return;
    const now = (usage.user + usage.system) / 1000;
    for (const { job } of this.running.values()) {
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

  /** Ends the thread together with what it is at; what waits goes to the next one. */
  private giveUp(error: () => Error): void {
    const { thread, host } = this;
    this.thread = undefined;
    this.host = undefined;
    for (const { job, owner } of [...this.running.values()]) {
      this.queue.done(owner);
      job.reject(error());
    }
    this.running.clear();
    host?.fail(new Error('the thread for large requests ended'));
    void thread?.terminate();
  }
}
