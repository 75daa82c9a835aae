import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { WebhookClient } from '../../../base/outgoing/webhook-client.js';
import type { AuditEvent } from '../audit-event.js';
import type { AuditBackend } from './backend.js';
import type { Deliver } from './batch.backend.js';
import { fitted, type SizeLimits } from './event-size.js';
import type { Losses } from './losses.js';

/** How long a request waits for its event in the blocking modes; after that, the event is still posted. */
const requestPatienceMs = 10_000;

/** Posts events as an `EventList`. Any 2xx status counts as delivered, whatever the body. */
export function webhookDelivery(client: Pick<WebhookClient, 'send'>, names: VendorNames): Deliver {
  const head = `{"kind":"EventList","apiVersion":"audit.${names.suffix}/v1","metadata":{},"items":[`;
  return async (events, signal) => {
    const items = events.map((event) => event.item).join(',');
    await client.send(Buffer.from(`${head}${items}]}`), signal);
    return 0;
  };
}

/** Posts each event separately while its request waits. */
export class BlockingWebhookBackend implements AuditBackend {
  readonly name = 'webhook';
  private readonly stopping = new AbortController();
  private readonly posts = new Set<Promise<boolean>>();

  constructor(
    private readonly deliver: Deliver,
    readonly isStrict: boolean,
    private readonly limits: SizeLimits | undefined,
    private readonly maxPosts: number,
    private readonly losses: Losses,
  ) {}

  take(event: AuditEvent): boolean | Promise<boolean> {
    const shown = fitted(event, this.limits);
    if (shown === undefined) {
      this.losses.dropped('size', 1);
      return false;
    }
    if (this.posts.size >= this.maxPosts) {
      this.losses.dropped('buffer', 1);
      return false;
    }
    const post: Promise<boolean> = this.deliver([shown], this.stopping.signal)
      .then(
        () => {
          this.losses.delivered(1);
          return true;
        },
        (error: unknown) => {
          this.losses.dropped('failure', 1, error);
          return false;
        },
      )
      .finally(() => this.posts.delete(post));
    this.posts.add(post);
    return within(post, requestPatienceMs);
  }

  async stop(): Promise<void> {
    const late = setTimeout(() => this.stopping.abort(new Error('the process ends')), requestPatienceMs);
    await Promise.all(this.posts);
    clearTimeout(late);
    this.losses.stop();
  }
}

/** The outcome, or false if it is not known in time. */
function within(outcome: Promise<boolean>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms);
    void outcome.then((value) => {
      clearTimeout(timer);
      resolve(value);
    });
  });
}
