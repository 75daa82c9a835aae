import { createHmac, randomBytes } from 'node:crypto';
import { FlowHash } from './flow-hash.js';

/** Maximum number of flows and of neighbourhoods that are cached. */
const remembered = 1000;
const accountPrefix = 'system:serviceaccount:';

/**
 * Hashes flows with a secret, so that nobody can search for names that share the queues of another user. Each process
 * has its own secret: flows that share their queues by chance do so in one process only.
 */
export class FlowHasher {
  private readonly neighbourhoods = new Map<string, FlowHash>();

  /** @param secret equal secrets give equal hashes */
  constructor(private readonly secret: Uint8Array = randomBytes(32)) {}

  /**
   * The hash of a flow. Service accounts of one namespace are neighbours: a user who may create one there can create
   * thousands, and must not fill all queues with them.
   */
  ofUser(schema: string, user: string): FlowHash {
    if (!user.startsWith(accountPrefix)) return this.of(schema, user);
    const namespace = user.slice(0, user.indexOf(':', accountPrefix.length) + 1);
    return this.of(schema, user, this.neighbourhood(`${schema}\u0000${namespace}`));
  }

  of(schema: string, distinguisher: string, neighbourhood?: FlowHash): FlowHash {
    const [high, low] = this.digest(`${schema}\u0000${distinguisher}`);
    return new FlowHash(high, low, neighbourhood);
  }

  private neighbourhood(key: string): FlowHash {
    let hash = this.neighbourhoods.get(key);
    if (hash === undefined) {
      hash = new FlowHash(...this.digest(key));
      if (this.neighbourhoods.size >= remembered) this.neighbourhoods.clear();
      this.neighbourhoods.set(key, hash);
    }
    return hash;
  }

  private digest(text: string): readonly [number, number] {
    const digest = createHmac('sha256', this.secret).update(text).digest();
    return [digest.readUInt32BE(0), digest.readUInt32BE(4)];
  }
}
