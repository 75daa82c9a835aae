import { type IdentityFields, type IdentityNames, identityFields, joinedNames, noNames } from './identity-fields.js';

export interface PublishedIdentityOptions {
  /** Reads the names that the processes published for extension servers; undefined if none are published. */
  readonly read: () => Promise<IdentityNames | undefined>;
  /** The names that this process was started with. */
  readonly own: IdentityNames;
  readonly onFault: (error: unknown) => void;
  /** Milliseconds from a fixed point. */
  readonly elapsed?: () => number;
}

const freshMs = 10_000;

/**
 * The fields that name users to extension servers, as published by all processes together: controller processes have no
 * flags for them, and other serving processes may have different flags.
 */
export class PublishedIdentity {
  private fields: IdentityFields | undefined;
  private readAt = Number.NEGATIVE_INFINITY;
  private pending: Promise<void> | undefined;
  private readonly elapsed: () => number;

  constructor(private readonly options: PublishedIdentityOptions) {
    this.elapsed = options.elapsed ?? (() => performance.now());
  }

  /**
   * The fields, read again if the last read is more than {@link freshMs} ago. If reading fails, the previous fields
   * stay in use. Never throws.
   */
  async get(): Promise<IdentityFields> {
    if (this.elapsed() - this.readAt >= freshMs) this.pending ??= this.refresh();
    if (this.fields === undefined) await this.pending;
    return this.fields ?? identityFields(this.options.own);
  }

  private async refresh(): Promise<void> {
    const { read, own, onFault } = this.options;
    try {
      this.fields = identityFields(joinedNames(own, (await read()) ?? noNames));
      this.readAt = this.elapsed();
    } catch (error) {
      onFault(error);
      // Names that were read before stay in use; if there are none, the next request reads again.
      if (this.fields !== undefined) this.readAt = this.elapsed();
    } finally {
      this.pending = undefined;
    }
  }
}
