import { Counter, Gauge, type Registry } from 'prom-client';
import type { BytesInHand } from './bytes-in-hand.js';

/** The metrics of the large bodies that requests have in hand. */
export function registerBytesMetrics(registry: Registry, inHand: BytesInHand): void {
  const registers = [registry];
  new Gauge({
    name: 'plinth_large_body_bytes',
    help: 'Bytes of the large bodies of requests that are under way.',
    registers,
    collect() {
      this.set(inHand.bytes);
    },
  });
  new Gauge({
    name: 'plinth_large_bodies_waiting',
    help: 'Requests with large bodies that wait for others of the same tenant, unread.',
    registers,
    collect() {
      this.set(inHand.waiting);
    },
  });
  new Counter({
    name: 'plinth_large_bodies_refused_total',
    help: 'Requests refused with 429 because too many with large bodies waited, or waited too long.',
    registers,
    collect() {
      this.reset();
      this.inc(inHand.refusals);
    },
  });
}
