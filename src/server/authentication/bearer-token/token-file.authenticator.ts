import { hash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { UserInfo } from '../../../base/machinery/request-context.js';
import { withoutBlanks } from '../blanks.js';
import { ownAudiences, type TokenAuthenticator, type TokenResult, unknownToken } from '../token-authenticator.js';

interface TokenEntry {
  readonly digest: Buffer;
  readonly user: UserInfo;
}

/** An unusable token file. The message names the line but never a token. */
class TokenFileError extends Error {}

/**
 * Static tokens from a CSV file (specification 5.2): token, user name, user uid, and optionally one column of
 * comma-separated groups. The file is read once at start. Tokens are kept as digests, and each request is compared with
 * all of them, so response times reveal nothing about a token.
 */
export class TokenFileAuthenticator implements TokenAuthenticator {
  private constructor(
    private readonly entries: readonly TokenEntry[],
    private readonly apiAudiences: readonly string[],
  ) {}

  /** @param apiAudiences the audiences of this server; all tokens of the file are meant for them. */
  static fromFile(path: string, apiAudiences: readonly string[]): TokenFileAuthenticator {
    return TokenFileAuthenticator.fromText(decoded(readFileSync(path)), apiAudiences);
  }

  /** Throws {@link TokenFileError} for an unusable line. */
  static fromText(text: string, apiAudiences: readonly string[] = []): TokenFileAuthenticator {
    const entries: TokenEntry[] = [];
    text.split(/\r?\n/).forEach((line, i) => {
      if (withoutBlanks(line) === '' || line.startsWith('#')) return;
      const [token, name, uid, groups] = parseCsvLine(line, i + 1);
      if (!token || !name) throw new TokenFileError(`token file line ${i + 1}: token and user name must not be empty`);
      if (uid === undefined)
        throw new TokenFileError(`token file line ${i + 1}: needs at least token, user name and user uid`);
      const user: UserInfo = Object.freeze({
        name,
        uid,
        groups: Object.freeze(groups === undefined || groups === '' ? [] : groups.split(',').map(withoutBlanks)),
        extra: Object.freeze({}),
      });
      entries.push({ digest: digestOf(token), user });
    });
    return new TokenFileAuthenticator(entries, apiAudiences);
  }

  authenticateToken(token: string, asked: readonly string[]): TokenResult {
    const digest = digestOf(token);
    let found: TokenEntry | undefined;
    for (const entry of this.entries) if (timingSafeEqual(entry.digest, digest)) found ??= entry;
    if (found === undefined) return unknownToken;
    const audiences = ownAudiences(asked, this.apiAudiences);
    return audiences === undefined ? unknownToken : { kind: 'user', user: found.user, audiences };
  }
}

/**
 * Rejects invalid UTF-8: all invalid bytes would decode to the same character and make different names equal. A byte
 * order mark is skipped.
 */
function decoded(content: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    throw new TokenFileError('the token file is not in UTF-8');
  }
}

function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

function parseCsvLine(line: string, number: number): string[] {
  const fields: string[] = [];
  let i = 0;
  while (i <= line.length) {
    while (line[i] === ' ') i++;
    if (line[i] === '"') {
      let value = '';
      i++;
      for (;;) {
        if (i >= line.length) throw new TokenFileError(`token file line ${number}: a quoted field has no end`);
        if (line[i] === '"' && line[i + 1] === '"') {
          value += '"';
          i += 2;
        } else if (line[i] === '"') {
          i++;
          break;
        } else value += line[i++];
      }
      fields.push(value);
      if (i < line.length && line[i] !== ',')
        throw new TokenFileError(`token file line ${number}: text after a quoted field`);
      i++;
    } else {
      const end = line.indexOf(',', i);
      const stop = end < 0 ? line.length : end;
      fields.push(withoutBlanks(line.slice(i, stop)));
      i = stop + 1;
    }
  }
  return fields;
}
