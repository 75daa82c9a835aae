import type { ServerOptions } from '../../config/server-options.js';
import type { MetricFamilies } from '../../observability/metrics.js';

/** What the parent says to a worker. The options carry the database URL: messages are never logged. */
export type ParentMessage =
  | {
      readonly type: 'start';
      readonly index: number;
      readonly options: ServerOptions;
      /** The SQL views are made by one worker, once. */
      readonly syncsViews: boolean;
    }
  | { readonly type: 'stop' }
  | { readonly type: 'collect'; readonly id: number }
  | { readonly type: 'gathered'; readonly id: number; readonly text: string | undefined };

/** What a worker says to the parent. */
export type WorkerMessage =
  | { readonly type: 'ready'; readonly url: string }
  /** It can't start; it ends by itself. */
  | { readonly type: 'failed'; readonly reason: string; readonly problems: readonly string[] | undefined }
  /** Its own metrics, as asked for. */
  | { readonly type: 'collected'; readonly id: number; readonly families: MetricFamilies }
  /** Asks for the metrics of all workers. */
  | { readonly type: 'gather'; readonly id: number };
