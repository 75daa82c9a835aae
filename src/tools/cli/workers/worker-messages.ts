import type { ServerOptions } from '../../../base/config/server-options.js';
import type { FlowPage, FlowTable } from '../../../base/observability/flow-table.js';
import type { MetricFamilies, MetricsForm, MetricsPage } from '../../../base/observability/metrics.js';

/** The file descriptor in a worker of the stream to the hub in its parent. */
export const hubDescriptor = 4;

/** Which metrics, and whether with what only protobuf shows. */
export interface MetricsQuery {
  readonly page: MetricsPage;
  readonly form: MetricsForm;
}

/** Messages of the parent to a worker. The options contain the database URL: messages are never logged. */
export type ParentMessage =
  | {
      readonly type: 'start';
      readonly index: number;
      readonly options: ServerOptions;
      /** Nothing serves on the port yet, so this worker does the work of the first one, such as the SQL views. */
      readonly isFirst: boolean;
    }
  | { readonly type: 'stop' }
  /** Asks whether the event loop turns; the answer is `alive`. */
  | { readonly type: 'ask' }
  /** Other workers have become ready: clients should reconnect and spread over all. */
  | { readonly type: 'spread' }
  | { readonly type: 'collect'; readonly id: number; readonly query: MetricsQuery }
  | { readonly type: 'gathered'; readonly id: number; readonly text: string | undefined }
  | { readonly type: 'collectFlows'; readonly id: number; readonly page: FlowPage }
  | { readonly type: 'gatheredFlows'; readonly id: number; readonly table: FlowTable | undefined };

/** Messages of a worker to the parent. */
export type WorkerMessage =
  | { readonly type: 'ready'; readonly url: string }
  | { readonly type: 'alive' }
  /** The worker can't start and ends by itself. */
  | { readonly type: 'failed'; readonly reason: string; readonly problems: readonly string[] | undefined }
  /** The worker's own metrics, as requested. */
  | { readonly type: 'collected'; readonly id: number; readonly families: MetricFamilies }
  /** Asks for the metrics of all workers. */
  | { readonly type: 'gather'; readonly id: number; readonly query: MetricsQuery }
  /** The worker's own state of flow control, as requested. */
  | { readonly type: 'collectedFlows'; readonly id: number; readonly table: FlowTable }
  /** Asks for the state of flow control in all workers. */
  | { readonly type: 'gatherFlows'; readonly id: number; readonly page: FlowPage };
