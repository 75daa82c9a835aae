/** Where an outage is told. */
export interface OutageLogger {
  error(text: string, fields?: object): void;
  info(text: string, fields?: object): void;
}

/**
 * Tells when something begins to fail and when it works again, and not each failure in between: a service that is away
 * would fill the log with one line for every request.
 */
export class OutageLog {
  private failures = 0;

  /** @param texts what is logged at the first failure and at the first success after it. */
  constructor(
    private readonly logger: OutageLogger,
    private readonly texts: { readonly failed: string; readonly recovered: string },
  ) {}

  /** Notes a failure; `fields` are told with the first one. */
  failed(fields: object): void {
    this.failures++;
    if (this.failures === 1) this.logger.error(this.texts.failed, fields);
  }

  /** Notes a success. */
  worked(): void {
    if (this.failures === 0) return;
    const { failures } = this;
    this.failures = 0;
    this.logger.info(this.texts.recovered, { failures });
  }
}
