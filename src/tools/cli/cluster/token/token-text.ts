import { randomInt } from 'node:crypto';
import { isTokenId, isTokenSecret } from '../../../../base/machinery/bootstrap-token.js';

const characters = 'abcdefghijklmnopqrstuvwxyz0123456789';
const idLength = 6;
const secretLength = 16;

/** A bootstrap token: its public id and its secret part (specification 2.8). */
export class TokenText {
  private constructor(
    readonly id: string,
    readonly secret: string,
  ) {}

  /** A new token, by a generator that is good enough for secrets. */
  static generate(): TokenText {
    return new TokenText(randomText(idLength), randomText(secretLength));
  }

  /** The token in a text; undefined when it has another form. */
  static parse(text: string): TokenText | undefined {
    const [id = '', secret = '', ...more] = text.split('.');
    return isTokenId(id) && isTokenSecret(secret) && more.length === 0 ? new TokenText(id, secret) : undefined;
  }

  toString(): string {
    return `${this.id}.${this.secret}`;
  }
}

/** Why a text is not a token. The message does not contain the text, which may be a secret with a typing error. */
export const tokenFormProblem = `must be ${idLength} and ${secretLength} characters of a-z and 0-9 with a dot between`;

function randomText(length: number): string {
  return Array.from({ length }, () => characters[randomInt(characters.length)]).join('');
}
