import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient, ApiResponse } from '../e2e/support/api-client.js';
import type { FailoverRecord } from './failover-record.js';

export const mapsPath = '/api/v1/namespaces/default/configmaps';

/** The counter in an object, and the object's version. */
interface State {
  readonly value: number;
  readonly version: string;
}

/**
 * One client that raises a counter in an object of its own by one, again and again, each time on the condition that the
 * object has the version that it knows. So each state of the object shows which of its writes took effect.
 */
export class CounterWriter {
  readonly name: string;
  /** The newest acknowledged value. */
  acknowledged = 0;
  private state: State | undefined;
  private turn = 0;

  constructor(
    number: number,
    private readonly clients: readonly ApiClient[],
    private readonly record: FailoverRecord,
  ) {
    this.name = `counter-${number}`;
    this.turn = number;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.state === undefined) await this.recover();
      else await this.raise(this.state);
    }
  }

  private async raise({ value, version }: State): Promise<void> {
    const answer = await this.send('PUT', `${mapsPath}/${this.name}`, {
      metadata: { name: this.name, resourceVersion: version },
      data: { value: String(value + 1) },
    });
    if (answer?.status === 200) this.accept(answer);
    else this.state = undefined;
  }

  /** After an answer that leaves the outcome open: reads what the object is, which may be the last write's result. */
  private async recover(): Promise<void> {
    await delay(20);
    const answer = await this.send('GET', `${mapsPath}/${this.name}`);
    if (answer?.status === 404) {
      if (this.acknowledged > 0) this.record.violation(`${this.name} is gone, which had ${this.acknowledged}`);
      const made = await this.send('POST', mapsPath, { metadata: { name: this.name }, data: { value: '1' } });
      if (made?.status === 201) this.accept(made);
      return;
    }
    if (answer?.status !== 200) return;
    const state = stateOf(answer);
    if (state.value < this.acknowledged) {
      this.record.lost(`${this.name} is ${state.value} after ${this.acknowledged} was acknowledged`, state.version);
      this.acknowledged = state.value;
    } else if (state.value > this.acknowledged + 1) {
      this.record.unexpected(`${this.name} is ${state.value} after ${this.acknowledged}, which nobody wrote`);
    }
    this.acknowledged = state.value;
    this.state = state;
  }

  private accept(answer: ApiResponse): void {
    const state = stateOf(answer);
    if (state.value !== this.acknowledged + 1) {
      this.record.unexpected(`${this.name}: ${state.value} was acknowledged after ${this.acknowledged}`);
    }
    this.record.wrote(this.name, state.value, state.version);
    this.acknowledged = state.value;
    this.state = state;
  }

  private async send(method: string, path: string, body?: object): Promise<ApiResponse | undefined> {
    const client = this.clients[this.turn++ % this.clients.length] as ApiClient;
    const answer = await client.send(method, path, body === undefined ? {} : { body }).catch(() => undefined);
    this.record.answered(answer?.status);
    // Another server may have the primary already.
    if (answer === undefined || answer.status >= 500 || answer.status === 429) await delay(20);
    return answer;
  }
}

function stateOf({ body }: ApiResponse): State {
  return { value: Number(body.data?.value), version: body.metadata.resourceVersion };
}
