import { CallSeats } from '../../../base/outgoing/call-seats.js';
import type { ApiUser } from '../../connection/api-connection.js';
import { CallerRefusal } from './caller-refusal.js';

/** Together with those of another kind fewer than the urgent requests that a connection has at a time. */
const limits = { calls: 8, waiting: 64 };

/**
 * Reviews by the API of what strangers send to the port of the agent. They are limited: a client that sends many wrong
 * tokens must neither prevent the renewal of the node's lease nor fill the memory.
 */
export class Reviews {
  private readonly seats = new CallSeats(limits);

  constructor(private readonly api: Pick<ApiUser, 'send'>) {}

  /** @throws CallerRefusal 429 while too many wait */
  async send<T extends object>(path: string, body: object, signal: AbortSignal): Promise<T> {
    const answer = this.seats.take(signal, () => this.api.send<T>('POST', path, { body, rank: 'urgent', signal }));
    if (answer === undefined) throw new CallerRefusal(429, 'too many requests wait for a review by the API');
    return answer;
  }
}
