/** All problems in a configuration file, one per line: the path of the field and the problem. */
export class DocumentError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(problems.join('; '));
    this.name = 'DocumentError';
  }
}
