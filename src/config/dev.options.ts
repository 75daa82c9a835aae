import { Flag } from './flag.js';

/** The single-machine set-up of `plinth dev`. */
export class DevOptions {
  @Flag({
    name: 'data-dir',
    type: 'string',
    unit: 'folder',
    usage: 'Folder of the embedded database, the generated certificates and the admin kubeconfig.',
  })
  readonly dataDir: string = '.plinth';
}
