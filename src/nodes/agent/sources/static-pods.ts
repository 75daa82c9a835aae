import { promises as fs } from 'node:fs';
import { formatTime } from '../../../base/machinery/clock.js';
import type { Timers } from '../../../base/machinery/timers.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { type PodSource, podKey, podUid } from '../pods/pod-form.js';
import { FileSource } from './file-source.js';
import { SubmissionServer } from './submission-server.js';
import { followUrl } from './url-source.js';

/** The sources of pods beside the API. */
export interface StaticPodOptions {
  readonly manifestPath: string | undefined;
  readonly fileCheckMs: number;
  readonly manifestUrl: string | undefined;
  readonly manifestUrlHeaders: readonly (readonly [string, string])[];
  readonly httpCheckMs: number;
  /** Undefined: submission is switched off. */
  readonly submission: { readonly port: number; readonly token: string } | undefined;
}

export interface StaticPodsDependencies {
  readonly options: StaticPodOptions;
  readonly nodeName: string;
  readonly names: VendorNames;
  readonly submissionFolder: string;
  readonly want: (pod: Pod) => void;
  readonly drop: (uid: string) => void;
  /** Receives all static pods after each change. */
  readonly onPods: (pods: readonly Pod[]) => void;
  readonly timers: Timers;
  readonly logger: Logger;
}

/**
 * The pods from files, from a URL and from programs on this machine. If two have the same name, the one from the first
 * source in this order counts.
 */
export class StaticPods {
  private readonly bySource = new Map<PodSource, readonly Pod[]>();
  private readonly known = new Set<string>();
  private readonly seen: string;
  private readonly files: FileSource[] = [];
  private submission: SubmissionServer | undefined;

  constructor(private readonly dependencies: StaticPodsDependencies) {
    this.seen = formatTime(dependencies.timers.now());
    const { options, submissionFolder } = dependencies;
    if (options.manifestPath !== undefined) this.addFiles('file', options.manifestPath);
    if (options.submission !== undefined) this.addFiles('submission', submissionFolder);
  }

  private addFiles(source: PodSource, path: string): void {
    const { timers, logger, options } = this.dependencies;
    const context = this.contextOf(source);
    const onPods = (pods: readonly Pod[]) => this.take(source, pods);
    this.files.push(new FileSource({ path, everyMs: options.fileCheckMs, context, timers, logger, onPods }));
  }

  private contextOf(source: PodSource) {
    const { nodeName, names } = this.dependencies;
    return { nodeName, source, names, seen: this.seen };
  }

  /** Reads all files, so that their pods are known before unwanted pods are ended. */
  async start(): Promise<void> {
    const { options, submissionFolder } = this.dependencies;
    if (options.submission !== undefined) {
      await fs.mkdir(submissionFolder, { recursive: true, mode: 0o700 });
      const context = this.contextOf('submission');
      this.submission = await SubmissionServer.start({ ...options.submission, folder: submissionFolder, context });
    }
    for (const source of this.files) await source.look();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { options, timers, logger } = this.dependencies;
    const { manifestUrl: url, manifestUrlHeaders: headers, httpCheckMs: everyMs } = options;
    const onPods = (pods: readonly Pod[]) => this.take('http', pods);
    await Promise.all([
      ...this.files.map((source) => source.run(signal)),
      ...(url === undefined
        ? []
        : [followUrl({ url, headers, everyMs, context: this.contextOf('http'), timers, logger, onPods }, signal)]),
    ]);
  }

  async stop(): Promise<void> {
    await this.submission?.stop();
  }

  /** Whether every source has been read at least once. */
  get isComplete(): boolean {
    const { manifestPath, manifestUrl, submission } = this.dependencies.options;
    const wanted: [PodSource, unknown][] = [
      ['file', manifestPath],
      ['http', manifestUrl],
      ['submission', submission],
    ];
    return wanted.every(([source, setting]) => setting === undefined || this.bySource.has(source));
  }

  private take(source: PodSource, pods: readonly Pod[]): void {
    const { want, drop, onPods, logger } = this.dependencies;
    this.bySource.set(source, pods);
    const byKey = new Map<string, Pod>();
    for (const pod of (['file', 'http', 'submission'] as const).flatMap((each) => this.bySource.get(each) ?? [])) {
      if (byKey.has(podKey(pod))) logger.debug('two static pods have one name', { pod: podKey(pod) });
      else byKey.set(podKey(pod), pod);
    }
    const wanted = new Set([...byKey.values()].map(podUid));
    for (const uid of this.known) {
      if (wanted.has(uid)) continue;
      this.known.delete(uid);
      drop(uid);
    }
    for (const pod of byKey.values()) {
      if (this.known.has(podUid(pod))) continue;
      this.known.add(podUid(pod));
      want(pod);
    }
    onPods([...byKey.values()]);
  }
}
