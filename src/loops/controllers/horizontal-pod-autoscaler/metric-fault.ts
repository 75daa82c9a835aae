/** Why a metric requests nothing. The reason and the message are those of the condition. */
export class MetricFault extends Error {
  constructor(
    readonly reason: string,
    message: string,
    /** What failed, in words; undefined when the message says it. */
    private readonly what?: string,
  ) {
    super(message);
  }

  /** The message with what failed. */
  get whole(): string {
    return this.what === undefined ? this.message : `${this.what}: ${this.message}`;
  }
}
