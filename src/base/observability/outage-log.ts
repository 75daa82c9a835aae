/** The part of the log that {@link OutageLog} uses. */
export interface OutageLogger {
  error(text: string, fields?: object): void;
  info(text: string, fields?: object): void;
}

/**
 * Reports the first failure and the next success, but no failure in between. Otherwise a service that is down would
 * fill the log with one line for every request.
 */
export class OutageLog {
  private failures = 0;

  /** @param texts messages for the first failure and for the first success after it. */
  constructor(
    private readonly logger: OutageLogger,
    private readonly texts: { readonly failed: string; readonly recovered: string },
  ) {}

  /** Records a failure; `fields` are logged with the first one. */
  failed(fields: object): void {
    this.failures++;
    if (this.failures === 1) this.logger.error(this.texts.failed, fields);
  }

  /** Records a success. */
  worked(): void {
    if (this.failures === 0) return;
    const { failures } = this;
    this.failures = 0;
    this.logger.info(this.texts.recovered, { failures });
  }
}
