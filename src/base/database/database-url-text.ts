import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { DatabaseUrlError } from './database-url-error.js';

/**
 * The connection URL that `url` stands for. `file:///path` names a file that holds the URL; it is read at each call, so that
 * it may be replaced while the process runs. Parameters after the path are added to those of the URL in the file.
 *
 * @throws DatabaseUrlError when the file can't be read or holds no URL; the message contains nothing of the file.
 */
export function databaseUrlText(url: string): string {
  if (!url.startsWith('file:')) return url;
  const [location = '', added = ''] = url.split('?', 2);
  const path = fileURLToPath(location);
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new DatabaseUrlError(`the URL of the database can't be read: ${(error as Error).message}`);
  }
  if (!/^postgres(ql)?:\/\/\S+$/.test(text)) throw new DatabaseUrlError(`${path} holds no postgresql:// URL`);
  if (added === '') return text;
  return `${text}${text.includes('?') ? '&' : '?'}${added}`;
}
