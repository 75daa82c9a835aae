import { Flag } from './flag.js';

/** What `plinth prune` does with its findings. */
export class PruneOptions {
  @Flag({
    name: 'remove',
    type: 'bool',
    usage:
      'Remove the databases whose data folder is gone. A data folder on a disk that is not mounted also seems ' +
      'to be gone: check the list first.',
  })
  readonly remove: boolean = false;
}
