/** The reason why a call of a hook gave no usable answer. The hook's failure policy decides what follows. */
export class HookFault extends Error {
  constructor(
    message: string,
    /** The HTTP status of the answer; 0: there was none, or it was no error. */
    readonly status = 0,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'HookFault';
  }
}
