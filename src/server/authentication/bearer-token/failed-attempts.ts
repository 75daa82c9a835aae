import { isIPv6 } from 'node:net';
import { StatusError } from '../../../base/machinery/status-error.js';

export interface FailedAttemptsOptions {
  /** How many failures of one address count as normal, in a second; 0: no limit. */
  readonly perSecond: number;
  /** Milliseconds, of a clock that never goes back. */
  readonly elapsed: () => number;
  /** Called for each attempt that is refused. */
  readonly onRefused?: () => void;
}

/** An address may have failed this many seconds' worth of times before it has to wait. */
const burstSeconds = 10;
/** Addresses that are remembered at most: the one that failed longest ago is forgotten. */
const mostAddresses = 10_000;

/** Slows down those who guess tokens: an address that has failed too often has to wait before further ones are looked up. */
export class FailedAttempts {
  /** When all failures of an address will be forgiven, in the order of the last failure. */
  private readonly forgivenAt = new Map<string, number>();

  constructor(private readonly options: FailedAttemptsOptions) {}

  /** @throws StatusError 429 while the address has to wait */
  check(address: string | undefined): void {
    const { perSecond, elapsed, onRefused } = this.options;
    const until = perSecond === 0 ? undefined : this.forgivenAt.get(groupOf(address));
    if (until === undefined) return;
    const excessMs = until - elapsed() - burstSeconds * 1000;
    if (excessMs <= 0) return;
    onRefused?.();
    const retryAfterSeconds = Math.ceil(excessMs / 1000);
    throw new StatusError('TooManyRequests', 'too many wrong bootstrap tokens came from this address', {
      details: { retryAfterSeconds },
      isSelfDefence: true,
    });
  }

  failed(address: string | undefined): void {
    const { perSecond, elapsed } = this.options;
    if (perSecond === 0) return;
    const key = groupOf(address);
    const now = elapsed();
    const until = Math.max(now, this.forgivenAt.get(key) ?? now) + 1000 / perSecond;
    this.forgivenAt.delete(key);
    // Attempts under way at the same time must not add up to an endless wait.
    this.forgivenAt.set(key, Math.min(until, now + 2 * burstSeconds * 1000));
    for (const [oldest, forgiven] of this.forgivenAt) {
      if (forgiven > now && this.forgivenAt.size <= mostAddresses) break;
      this.forgivenAt.delete(oldest);
    }
  }

  get size(): number {
    return this.forgivenAt.size;
  }
}

/** A client of IPv6 has a network of 64 bits for itself. */
function groupOf(address = ''): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address;
  const [head = '', tail] = address.split('::');
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => '0');
  return [...front, ...(tail === undefined ? [] : zeros), ...back].slice(0, 4).join(':');
}
