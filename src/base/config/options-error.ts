/** All problems with the command line and the environment, one per line. */
export class OptionsError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'OptionsError';
  }
}
