import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Delay } from '../../../base/config/file-poll.js';
import { LiveFiles, type LiveFilesOptions } from '../../../base/config/live-files.js';
import type { Expiring } from './certificate-watch.js';
import type { PeerIdentity } from './peer-identity.js';
import type { RevocationMetrics } from './revocation-metrics.js';
import { type ExpiredListPolicy, Revocations } from './revocations.js';

interface Judgement {
  readonly by: Revocations;
  readonly isRevoked: boolean;
  readonly goodUntil: number;
}

/** The files that the lists are read from. */
export interface RevocationFiles {
  readonly lists: string;
  /** Files with the CA certificates for client certificates. */
  readonly authorities: readonly string[];
  readonly expired: ExpiredListPolicy;
}

/**
 * The revocation lists in force, read again when their file or the CA certificates change. Connections are checked
 * again after each change. Unusable lists are logged, and the previous ones stay in force.
 */
export class LiveRevocations {
  private readonly files: LiveFiles<Revocations>;
  private readonly judgements = new WeakMap<PeerIdentity, Judgement>();

  /** Throws when the lists can't be used now. */
  constructor(
    private readonly settings: RevocationFiles,
    now: () => number,
    logger: LiveFilesOptions<Revocations>['logger'],
    metrics?: RevocationMetrics,
    wait?: Delay,
  ) {
    const { lists, authorities } = settings;
    const trusted = () => authorities.map((path) => readFileSync(path, 'utf8')).join('\n');
    this.files = new LiveFiles({
      paths: [lists, ...authorities],
      load: () => {
        const pem = trusted();
        try {
          return Revocations.read(readFileSync(lists), pem, now());
        } catch (error) {
          throw named(lists, error);
        }
      },
      reload: async () => {
        const pem = trusted();
        try {
          return await Revocations.readInTurns(await readFile(lists), pem, now());
        } catch (error) {
          throw named(lists, error);
        }
      },
      outcome: (status) => metrics?.reloaded(status, now()),
      logger,
      subject: 'revocation lists of client certificates',
      wait,
    });
    metrics?.follow(() => this.files.current.size);
  }

  /** The expiry times of the lists in force. */
  expiring(): readonly Expiring[] {
    return this.files.current.expiries().map(({ issuer, nextUpdate }) => ({
      use: 'client-crl',
      name: issuer,
      endsAt: nextUpdate,
    }));
  }

  /** Why a peer's certificates are refused at the given time; undefined when no list revokes them. */
  problem(peer: PeerIdentity, now: number): string | undefined {
    const { current } = this.files;
    let judgement = this.judgements.get(peer);
    if (judgement?.by !== current) {
      judgement = { by: current, ...current.judge(peer.chain) };
      this.judgements.set(peer, judgement);
    }
    if (judgement.isRevoked) return 'the client certificate is revoked';
    if (now <= judgement.goodUntil || this.settings.expired === 'Use') return undefined;
    return 'the revocation list of the authority of the client certificate has expired';
  }

  start(signal: AbortSignal): void {
    this.files.start(signal);
  }

  stopped(): Promise<void> {
    return this.files.stopped();
  }
}

function named(file: string, error: unknown): Error {
  return new Error(`${file}: ${(error as Error).message}`, { cause: error });
}
