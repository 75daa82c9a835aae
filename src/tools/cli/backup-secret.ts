import { readFile, stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import type { BackupKeyOptions } from '../../base/config/backup-key.options.js';
import { OptionsError } from '../../base/config/options-error.js';
import { fileProblem, waitsForWriter } from '../../base/machinery/file-problem.js';
import { StartupError } from '../../base/machinery/startup-error.js';

const leastKeyBytes = 16;
const mostSecretBytes = 64 * 1024;

/**
 * The passphrase or key that the flags name; undefined without any.
 *
 * @param isNew whether it will encrypt something: then the user has to type it twice
 * @throws OptionsError for more than one, StartupError for one that can't be read or is too short
 */
export async function readBackupSecret(
  { passphrase, passphraseFile, keyFile }: Readonly<BackupKeyOptions>,
  isNew: boolean,
): Promise<Buffer | undefined> {
  const given = [passphrase ? '' : undefined, passphraseFile, keyFile].filter((source) => source !== undefined);
  if (given.length > 1) throw new OptionsError(['--passphrase, --passphrase-file and --key-file exclude each other']);
  if (keyFile !== undefined) {
    const key = await readSecretFile(keyFile);
    if (key.length < leastKeyBytes) throw new StartupError(`${keyFile}: a key has at least ${leastKeyBytes} bytes`);
    return key;
  }
  if (passphraseFile !== undefined) {
    const [line = ''] = (await readSecretFile(passphraseFile)).toString('utf8').split(/\r?\n/, 1);
    if (line === '') throw new StartupError(`${passphraseFile}: the passphrase is empty`);
    return Buffer.from(line);
  }
  if (!passphrase) return undefined;
  const first = await ask('Passphrase: ');
  if (first === '') throw new StartupError('the passphrase is empty');
  if (isNew && (await ask('Once more: ')) !== first) throw new StartupError('the passphrases differ');
  return Buffer.from(first);
}

async function readSecretFile(path: string): Promise<Buffer> {
  try {
    const found = await stat(path);
    if (found.size > mostSecretBytes) throw new Error('the file is too long');
    if (found.isCharacterDevice() || found.isBlockDevice()) throw new Error('it is a device: name a file');
    if (waitsForWriter(path, found)) throw new Error('it is a pipe: name a file');
    return await readFile(path);
  } catch (error) {
    throw new StartupError(`${path} can't be read: ${fileProblem(error)}`, { cause: error });
  }
}

/** Asks on the terminal without showing what is typed. */
async function ask(question: string): Promise<string> {
  if (!process.stdin.isTTY) throw new StartupError('there is no terminal to ask for the passphrase: --passphrase-file');
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silence, terminal: true, historySize: 0 });
  // The prompt comes last: only from here on does the terminal hide what is typed.
  process.stderr.write(question);
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once('line', resolve);
      lines.once('SIGINT', () => reject(new StartupError('stopped')));
      lines.once('close', () => reject(new StartupError('stopped')));
    });
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}
