import { Flag } from './flag.js';

/**
 * The passphrase or key of sealed objects. It is never an argument, since everybody on the machine can see arguments.
 */
export class BackupKeyOptions {
  @Flag({
    name: 'passphrase',
    type: 'bool',
    // Users may put the passphrase itself into the variable.
    secret: true,
    usage: 'Ask for a passphrase on the terminal.',
  })
  readonly passphrase: boolean = false;

  @Flag({ name: 'passphrase-file', type: 'string', unit: 'file', usage: 'File with the passphrase in its first line.' })
  readonly passphraseFile: string | undefined = undefined;

  @Flag({
    name: 'key-file',
    type: 'string',
    unit: 'file',
    usage: 'File with a key in place of a passphrase: at least 16 bytes, such as 32 random ones.',
  })
  readonly keyFile: string | undefined = undefined;
}
