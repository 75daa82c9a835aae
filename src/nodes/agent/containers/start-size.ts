import { ContainerConfigError } from './container-config-error.js';

/** The kernel starts no program with more arguments and variables. */
const mostBytes = 6 * 2 ** 20;

/**
 * The size of what a container starts with. A few variables that refer to each other make texts of any size, with which the container could
 * not start, and for which the agent has no memory.
 */
export class StartSize {
  private bytes = 0;

  /** @throws ContainerConfigError when it is more than a program can start with */
  add(text: string): void {
    this.bytes += Buffer.byteLength(text);
    if (this.bytes > mostBytes)
      throw new ContainerConfigError('the arguments and the environment are larger than a program can start with');
  }
}
