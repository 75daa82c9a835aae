import { Flag } from './flag.js';

/** Controls whether programs started by a test suite outlive it. */
export class AssetOptions {
  @Flag({
    name: 'outlive-parent',
    type: 'bool',
    usage: 'Go on when the process that started this one is gone. Otherwise a killed suite would leave it behind.',
  })
  readonly outliveParent: boolean = false;
}
