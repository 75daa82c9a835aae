import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Clock } from '../../../base/machinery/clock.js';
import { serverContext } from '../../../base/machinery/internal-context.js';
import { dayOf, lastUsedLabel } from '../../../base/machinery/legacy-tokens.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { Store } from '../../../objects/registry/store/store.js';

export interface SecretTokenUsesDependencies {
  readonly names: VendorNames;
  readonly clock: Clock;
  readonly logger: { warn(text: string, fields?: object): void };
  /** Returns the store of secrets, which may not exist yet when this object is created. */
  readonly secrets: () => Pick<Store, 'update'>;
}

const admitted = () => Promise.resolve();
const dayMs = 86_400_000;
/** Maximum number of concurrent writes. A user may have many secrets; a skipped use is recorded at the next one. */
const mostWrites = 4;

/** Records in a label of a secret on which day its token was last used, at most once a day. */
export class SecretTokenUses {
  private readonly writing = new Set<string>();

  constructor(private readonly dependencies: SecretTokenUsesDependencies) {}

  /** Writes in the background. A failed write is repeated at a later use. */
  record({ metadata }: ApiObject): void {
    const { names, clock } = this.dependencies;
    const { uid = '' } = metadata;
    const used = metadata.labels?.[lastUsedLabel(names)];
    // The clock of another server may be slightly ahead.
    if (used === dayOf(clock.now()) || used === dayOf(clock.now() + dayMs)) return;
    if (this.writing.size >= mostWrites || this.writing.has(uid)) return;
    this.writing.add(uid);
    void this.write(metadata).finally(() => this.writing.delete(uid));
  }

  private async write({ namespace = '', name = '', uid }: ApiObject['metadata']): Promise<void> {
    const { names, clock, secrets, logger } = this.dependencies;
    const label = lastUsedLabel(names);
    try {
      await secrets().update(serverContext(clock.now()), namespace, name, {
        dryRun: false,
        validate: admitted,
        transform: (live) => {
          if (live === undefined || live.metadata.uid !== uid) return live as ApiObject;
          const labels = { ...live.metadata.labels, [label]: dayOf(clock.now()) };
          return { ...live, metadata: { ...live.metadata, labels } };
        },
      });
    } catch (error) {
      logger.warn('the use of a token in a secret cannot be recorded', { namespace, name, error });
    }
  }
}
