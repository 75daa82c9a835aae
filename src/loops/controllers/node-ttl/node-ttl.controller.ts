import type { ReconcileContext } from '../frame/reconcile-context.js';
import { ReconcileLoop, type Source, source } from '../frame/reconcile-loop.js';
import type { StoredNode } from '../node-lifecycle/node-silence.js';
import type { WorkOutcome } from '../work-queue.js';
import { nextStep, secondsAt, stepCount, stepOf } from './ttl-steps.js';

/**
 * Records on each node, in an annotation, how long its agent may keep secrets and config maps before it reads them
 * again: the more nodes, the longer. A shorter time applies again only when the number has fallen by a tenth.
 */
export class NodeTtlController extends ReconcileLoop {
  readonly name = 'ttl-controller';
  private readonly nodes = this.informer<StoredNode>('', 'nodes');
  private readonly annotation = `node.alpha.${this.dependencies.names.labelPrefix}/ttl`;
  private step = 0;

  protected sources(): readonly Source[] {
    return [source(this.nodes, (node, old) => this.keysOf(node, old))];
  }

  /** Continues where the previous leader stopped: with the step recorded on most nodes. */
  protected override started(): void {
    const reported = new Array<number>(stepCount).fill(0);
    for (const node of this.nodes.all()) {
      const step = stepOf(Number(this.ttlOf(node) ?? Number.NaN));
      if (step !== undefined) reported[step] = (reported[step] ?? 0) + 1;
    }
    this.step = nextStep(reported.indexOf(Math.max(...reported)), this.nodes.size);
  }

  private *keysOf(node: StoredNode | undefined, old: StoredNode | undefined): Generator<string> {
    const before = this.step;
    this.step = nextStep(before, this.nodes.size);
    if (this.step !== before) for (const { metadata } of this.nodes.all()) yield metadata.name ?? '';
    else if (node !== undefined && (old === undefined || this.ttlOf(node) !== this.ttlOf(old))) {
      yield node.metadata.name ?? '';
    }
  }

  private ttlOf({ metadata }: Readonly<StoredNode>): string | undefined {
    return metadata.annotations?.[this.annotation];
  }

  protected async reconcile(key: string, work: ReconcileContext): Promise<WorkOutcome> {
    const node = this.nodes.get('', key);
    const next = (live: StoredNode) => {
      const wanted = String(secondsAt(this.step));
      if (live.metadata.deletionTimestamp !== undefined || this.ttlOf(live) === wanted) return undefined;
      const annotations = { ...live.metadata.annotations, [this.annotation]: wanted };
      return { ...live, metadata: { ...live.metadata, annotations } };
    };
    if (node !== undefined && next(node) !== undefined) {
      await this.client<StoredNode>('', 'nodes').update(work, node, next);
    }
    return 'done';
  }
}
