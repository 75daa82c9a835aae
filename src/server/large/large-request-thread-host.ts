import type { Worker } from 'node:worker_threads';
import type { Authorizer, RuleResolver } from '../../base/machinery/authorizer.js';
import type { ServiceAccountTokenIssuer, TokenReviewer } from '../../base/machinery/tokens.js';
import {
  type ChangeBatch,
  type ChangeSubscription,
  type ListPage,
  type ListQuery,
  type ListScope,
  plainObject,
  type Storage,
  type StoredObject,
  type UpdateDecision,
  type UpdateOptions,
} from '../../storage/storage.interface.js';
import type { StorageKey } from '../../storage/storage-key.js';
import type { WebhookCallCounter } from '../admission/webhooks/webhook-metrics.js';
import {
  type FromThread,
  type LargeRequestTarget,
  largeRequestTargets,
  type ToThread,
} from './large-request-messages.js';
import { packError } from './packed-error.js';
import { ThrownInThread } from './thrown-in-thread.js';

/**
 * Maximum number of characters of a list page that are sent to the thread at once: copying them takes time in this
 * process.
 */
const mostPageCharacters = 4 * 2 ** 20;

/** The parts of the process that the thread may call. */
export interface LargeRequestThreadHostDependencies {
  readonly storage: Storage;
  readonly authorizer: Authorizer;
  readonly rules: RuleResolver;
  readonly tokens: TokenReviewer;
  /** Undefined when this process has no signing key. */
  readonly issuer: ServiceAccountTokenIssuer | undefined;
  readonly hookCalls: WebhookCallCounter;
}

/** Serves the calls of one thread. */
export class LargeRequestThreadHost {
  private readonly decisions = new Map<number, (decision: UpdateDecision | undefined) => void>();
  private readonly failures = new Set<(error: Error) => void>();
  /** The subscriptions of the thread's informers, by the number that the thread uses for each. */
  private readonly subscriptions = new Map<number, ChangeSubscription>();
  private lastSubscription = 0;
  private isOver = false;

  constructor(
    private readonly dependencies: LargeRequestThreadHostDependencies,
    private readonly thread: Pick<Worker, 'postMessage'>,
  ) {}

  /** Receives a call or a decision from the thread. */
  receive(message: FromThread): void {
    if (message.type === 'decided') this.decisions.get(message.id)?.(message.decision);
    else if (message.type === 'call') void this.answer(message);
  }

  /** Called when the thread has ended: it will make no more decisions. */
  fail(error: Error): void {
    this.isOver = true;
    for (const reject of [...this.failures]) reject(error);
    for (const subscription of this.subscriptions.values()) subscription.close();
    this.subscriptions.clear();
  }

  private async answer(message: Extract<FromThread, { type: 'call' }>): Promise<void> {
    const { id, target, method, args } = message;
    try {
      const value = await this.call(target, method, args);
      this.send({ type: 'returned', id, value });
    } catch (error) {
      this.send({ type: 'threw', id, error: packError(error) });
    }
  }

  private send(message: ToThread): void {
    this.thread.postMessage(message);
  }

  private call(target: LargeRequestTarget, method: string, args: readonly unknown[]): unknown {
    if (!largeRequestTargets.includes(target)) throw new Error(`no target ${target}`);
    const { storage } = this.dependencies;
    if (target === 'storage' && method === 'guaranteedUpdate') {
      const [key, options, id] = args as [StorageKey, UpdateOptions, number];
      return storage.guaranteedUpdate(key, options, (current) => this.decide(id, current));
    }
    if (target === 'storage' && method === 'list') return this.list(args[0] as ListQuery);
    if (target === 'storage' && method === 'watch') return this.watch(args[0] as ListScope, args[1] as bigint);
    if (target === 'changes') return this.changes(method, args[0] as number);
    const object = this.dependencies[target] as unknown as Readonly<
      Record<string, (...args: readonly unknown[]) => unknown>
    >;
    // A single call is not aborted: it ends with its request.
    const given = target === 'tokens' ? [...args, new AbortController().signal] : args;
    return object[method]?.(...given);
  }

  private async watch(scope: ListScope, from: bigint): Promise<number> {
    const subscription = await this.dependencies.storage.watch(scope, from);
    const id = ++this.lastSubscription;
    if (this.isOver) subscription.close();
    else this.subscriptions.set(id, subscription);
    return id;
  }

  private changes(method: string, id: number): Promise<ChangeBatch | undefined> | undefined {
    const subscription = this.subscriptions.get(id);
    if (method === 'next') return subscription?.next().then((batch) => batch && withoutPrevious(batch));
    this.subscriptions.delete(id);
    subscription?.close();
    return undefined;
  }

  private async list(query: ListQuery): Promise<ListPage> {
    const page = await this.dependencies.storage.list(query);
    let characters = 0;
    const end = page.items.findIndex(({ json }, i) => {
      characters += json.length;
      return i > 0 && characters > mostPageCharacters;
    });
    const shown = end < 0 ? page.items : page.items.slice(0, end);
    const left = page.items.length - shown.length;
    const remaining = page.remaining === undefined ? {} : { remaining: page.remaining + left };
    // The cached forms are omitted, since they stay in this thread.
    return {
      resourceVersion: page.resourceVersion,
      items: shown.map(plainObject),
      more: page.more || left > 0,
      ...remaining,
    };
  }

  private decide(id: number, current: StoredObject | undefined): Promise<UpdateDecision> {
    return new Promise((resolve, reject) => {
      const finish = () => {
        this.decisions.delete(id);
        this.failures.delete(fail);
      };
      const fail = (error: Error) => {
        finish();
        reject(error);
      };
      this.failures.add(fail);
      this.decisions.set(id, (decision) => {
        finish();
        if (decision === undefined) reject(new ThrownInThread());
        else resolve(decision);
      });
      this.send({ type: 'decide', id, current });
    });
  }
}

/** Removes the previous states from changes: informers don't use them, and copying takes time. */
function withoutPrevious({ changes, position }: ChangeBatch): ChangeBatch {
  return { changes: changes.map((change) => ({ ...change, previousJson: undefined })), position };
}
