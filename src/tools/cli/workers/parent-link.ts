import cluster from 'node:cluster';
import type { FlowPage, FlowTable } from '../../../base/observability/flow-table.js';
import type { MetricFamilies } from '../../../base/observability/metrics.js';
import type { MetricsQuery, ParentMessage, WorkerMessage } from './worker-messages.js';

/** How long to wait for the parent, which itself waits at most two seconds for the responses of all workers. */
const gatherMs = 4_000;

type Message<Type extends ParentMessage['type']> = Extract<ParentMessage, { type: Type }>;

/** A worker's side of the channel to its parent. */
export class ParentLink {
  /** What to do with the responses of the parent: the text of metrics, or a table of flows. */
  private readonly gathers = new Map<number, (answer: unknown) => void>();
  private nextId = 1;
  private start: (message: Message<'start'>) => void = () => undefined;
  private stop: () => void = () => undefined;
  private spread: () => void = () => undefined;
  private collect: ((query: MetricsQuery) => Promise<MetricFamilies>) | undefined;
  private collectFlows: ((page: FlowPage) => FlowTable | undefined) | undefined;

  constructor(private readonly channel: NodeJS.Process) {
    channel.on('message', (message: ParentMessage) => this.receive(message));
  }

  onStart(listener: (message: Message<'start'>) => void): void {
    this.start = listener;
  }

  onStop(listener: () => void): void {
    this.stop = listener;
  }

  onSpread(listener: () => void): void {
    this.spread = listener;
  }

  /** Sets the function that collects the metrics of this process. */
  onCollect(collect: (query: MetricsQuery) => Promise<MetricFamilies>): void {
    this.collect = collect;
  }

  send(message: WorkerMessage): void {
    // Without a parent the process ends anyway.
    if (this.channel.connected) this.channel.send?.(message, undefined, undefined, () => undefined);
  }

  /** Sets the function that returns the state of flow control in this process; undefined when it is off. */
  onCollectFlows(collect: (page: FlowPage) => FlowTable | undefined): void {
    this.collectFlows = collect;
  }

  /** The text of a scrape over all workers; undefined when the parent does not answer. */
  gather(query: MetricsQuery): Promise<string | undefined> {
    return this.ask((id) => ({ type: 'gather', id, query })) as Promise<string | undefined>;
  }

  /** The state of flow control in all workers; undefined when the parent does not answer. */
  gatherFlows(page: FlowPage): Promise<FlowTable | undefined> {
    return this.ask((id) => ({ type: 'gatherFlows', id, page })) as Promise<FlowTable | undefined>;
  }

  private ask(query: (id: number) => WorkerMessage): Promise<unknown> {
    const id = this.nextId++;
    return new Promise((resolve) => {
      const finish = (answer: unknown) => {
        clearTimeout(timer);
        this.gathers.delete(id);
        resolve(answer);
      };
      const timer = setTimeout(() => finish(undefined), gatherMs);
      this.gathers.set(id, finish);
      this.send(query(id));
    });
  }

  /** Ends the channel, which would otherwise keep the process alive. Messages under way are still sent. */
  close(): void {
    for (const finish of [...this.gathers.values()]) finish(undefined);
    if (this.channel.connected) cluster.worker?.disconnect();
  }

  private receive(message: ParentMessage): void {
    switch (message.type) {
      case 'start':
        this.start(message);
        return;
      case 'stop':
        this.stop();
        return;
      case 'ask':
        this.send({ type: 'alive' });
        return;
      case 'spread':
        this.spread();
        return;
      case 'collect':
        this.collect?.(message.query).then(
          (families) => this.send({ type: 'collected', id: message.id, families }),
          // The parent continues without a report that does not arrive.
          () => undefined,
        );
        return;
      case 'gathered':
        this.gathers.get(message.id)?.(message.text);
        return;
      case 'collectFlows': {
        const table = this.collectFlows?.(message.page);
        if (table !== undefined) this.send({ type: 'collectedFlows', id: message.id, table });
        return;
      }
      case 'gatheredFlows':
        this.gathers.get(message.id)?.(message.table);
        return;
    }
  }
}
