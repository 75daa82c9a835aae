/** A value has the wrong type or form. The message starts with the path. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';

  constructor(
    readonly path: string,
    readonly detail: string,
  ) {
    super(path === '' ? detail : `${path}: ${detail}`);
  }
}
