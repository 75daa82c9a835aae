import { Worker } from 'node:worker_threads';
import { tooManyRequestsError } from '../../../base/machinery/status-error.js';
import { addDuplicates, type DuplicateFields } from './duplicates.js';
import type { YamlAnswer } from './yaml.worker.js';

export interface LargeYamlOptions {
  /** The worker is terminated after being idle for this long. */
  readonly idleMs: number;
  /** Maximum number of waiting documents; further clients are asked to retry later. */
  readonly maxWaiting: number;
  /** Maximum length of the resulting JSON, in characters. */
  readonly maxJsonLength: number;
  /** CPU time limit for one document, in milliseconds. Default: 10 s. */
  readonly maxCpuMs?: number;
}

interface Job {
  readonly text: string;
  readonly duplicates: DuplicateFields | undefined;
  readonly resolve: (json: string) => void;
  readonly reject: (error: unknown) => void;
  /** The thread's CPU time when this document was first checked, in milliseconds. */
  begunAt: number | undefined;
}

const defaultCpuMs = 10_000;
/** How often the thread's CPU time is checked. */
const checkMs = 500;

/**
 * Parses large YAML documents in another thread, one after the other, so that they don't hold up other requests. The
 * thread starts with the first document and is terminated after being idle for a while; it does not keep the process
 * alive. When a document takes too much memory or time, the thread is terminated; the next document gets a new one.
 */
export class LargeYamlParser {
  private worker: Worker | undefined;
  private current: Job | undefined;
  private readonly waiting: Job[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: LargeYamlOptions) {}

  /** Whether the thread is running. */
  get isRunning(): boolean {
    return this.worker !== undefined;
  }

  /**
   * Converts the document to JSON. Rejects with a SyntaxError whose message can be shown to clients, or a 429 when too
   * many documents wait.
   *
   * @param duplicates receives the duplicate keys, which the JSON does not contain
   */
  toJson(text: string, duplicates?: DuplicateFields): Promise<string> {
    if (this.waiting.length >= this.options.maxWaiting) return Promise.reject(tooManyRequestsError(1));
    return new Promise((resolve, reject) => {
      this.waiting.push({ text, duplicates, resolve, reject, begunAt: undefined });
      this.next();
    });
  }

  /** Terminates the thread; rejects running and waiting documents. */
  async stop(): Promise<void> {
    clearTimeout(this.timer);
    const { worker } = this;
    this.finish((job) => job.reject(new SyntaxError('yaml: the server is stopping')));
    for (const job of this.waiting.splice(0)) job.reject(new SyntaxError('yaml: the server is stopping'));
    this.worker = undefined;
    await worker?.terminate();
  }

  private next(): void {
    if (this.current !== undefined) return;
    const job = this.waiting.shift();
    clearTimeout(this.timer);
    if (job === undefined) {
      this.timer = setTimeout(() => void this.stop(), this.options.idleMs).unref();
      return;
    }
    this.current = job;
    this.worker ??= this.start();
    this.worker.postMessage(job.text);
  }

  private start(): Worker {
    const worker = new Worker(new URL('./yaml.worker.js', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: 512 },
    });
    worker.unref();
    worker.on('message', (answer: YamlAnswer) => {
      if (worker !== this.worker) return;
      this.finish((job) => this.settle(job, answer));
      this.next();
    });
    const check = setInterval(() => void this.checkTime(worker), checkMs).unref();
    worker.once('exit', () => clearInterval(check));
    // The cause is usually a lack of memory.
    worker.on('error', () => {
      if (worker === this.worker) this.abandon('yaml: the document is too large');
    });
    return worker;
  }

  private async checkTime(worker: Worker): Promise<void> {
    const job = this.current;
    if (job === undefined) return;
    // The CPU time of a terminated worker is unknown.
    const usage = await worker.cpuUsage().catch(() => undefined);
    if (usage === undefined || worker !== this.worker || job !== this.current) return;
    const now = (usage.user + usage.system) / 1000;
    job.begunAt ??= now;
    if (now - job.begunAt > (this.options.maxCpuMs ?? defaultCpuMs)) this.abandon('yaml: the document is too complex');
  }

  private settle(job: Job, answer: YamlAnswer): void {
    if ('fault' in answer) job.reject(new SyntaxError(answer.fault));
    else if (answer.json.length > this.options.maxJsonLength) {
      job.reject(new SyntaxError('yaml: the document is too large'));
    } else {
      if (job.duplicates !== undefined) addDuplicates(job.duplicates, answer.duplicates);
      job.resolve(answer.json);
    }
  }

  /** Terminates the thread and rejects its document. */
  private abandon(reason: string): void {
    void this.worker?.terminate();
    this.worker = undefined;
    this.finish((job) => job.reject(new SyntaxError(reason)));
    this.next();
  }

  private finish(settle: (job: Job) => void): void {
    clearTimeout(this.timer);
    const job = this.current;
    this.current = undefined;
    if (job !== undefined) settle(job);
  }
}
