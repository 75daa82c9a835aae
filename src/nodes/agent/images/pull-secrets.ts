import type { Secret } from '../../../objects/apis/core/v1/secret.types.js';
import type { AuthConfig } from '../cri/image-messages.js';
import { parseImageName } from './image-names.js';

interface RegistryEntry {
  readonly username?: string;
  readonly password?: string;
  readonly auth?: string;
  readonly identitytoken?: string;
}

/** Each is tried, and other pods wait for their images meanwhile. */
const mostCredentials = 20;

/** The credentials in secrets for the registry of an image, the closest match first. */
export function pullCredentials(image: string, secrets: readonly Secret[]): AuthConfig[] {
  const name = parseImageName(image);
  if (name === undefined) return [];
  const wanted = `${name.registry}/${name.repository}`;
  const found: { readonly length: number; readonly auth: AuthConfig }[] = [];
  for (const secret of secrets) {
    for (const [place, entry] of registriesOf(secret)) {
      const prefix = normalPlace(place);
      if (matches(prefix, wanted)) found.push({ length: prefix.length, auth: authOf(entry, place) });
    }
  }
  return found
    .sort((a, b) => b.length - a.length)
    .slice(0, mostCredentials)
    .map(({ auth }) => auth);
}

function registriesOf({ data }: Secret): [string, unknown][] {
  const config = data?.['.dockerconfigjson'];
  const older = data?.['.dockercfg'];
  try {
    if (config !== undefined) {
      const { auths = {} } = JSON.parse(decoded(config)) as { auths?: Record<string, unknown> };
      return Object.entries(auths);
    }
    return older === undefined ? [] : Object.entries(JSON.parse(decoded(older)) as Record<string, unknown>);
  } catch {
    // A secret whose content can't be parsed yields no credentials.
    return [];
  }
}

function decoded(text: string): string {
  return Buffer.from(text, 'base64').toString('utf8');
}

/** `https://index.docker.io/v1/` -> `docker.io`. */
function normalPlace(place: string): string {
  const bare = place
    .replace(/^https?:\/\//, '')
    .replace(/\/v[12]\/?$/, '')
    .replace(/\/$/, '');
  return bare === 'index.docker.io' ? 'docker.io' : bare;
}

/** The host may contain `*` in place of parts of its names. */
function matches(prefix: string, wanted: string): boolean {
  const [host = '', ...path] = prefix.split('/');
  const [wantedHost = '', ...wantedPath] = wanted.split('/');
  const parts = host.split('.');
  const wantedParts = wantedHost.split('.');
  if (parts.length !== wantedParts.length) return false;
  const isHost = parts.every((part, i) => isPartMatch(part, wantedParts[i] as string));
  return isHost && path.every((part, i) => part === wantedPath[i]);
}

/**
 * Whether a text is one that a pattern with any number of `*` describes. No regular expression: whoever writes a secret could make one that
 * takes for ever.
 */
function isPartMatch(pattern: string, text: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const middle of others) {
    const found = text.indexOf(middle, at);
    if (found < 0) return false;
    at = found + middle.length;
  }
  return at <= end;
}

/** Secrets have any content: what is no text counts as missing. */
function authOf(entry: unknown, place: string): AuthConfig {
  const of = (name: keyof RegistryEntry) => {
    const value = (entry as RegistryEntry | null)?.[name];
    return typeof value === 'string' ? value : '';
  };
  const auth = of('auth');
  const [user = '', ...rest] = auth === '' ? [] : decoded(auth).split(':');
  return {
    username: of('username') || user,
    password: of('password') || rest.join(':'),
    identityToken: of('identitytoken'),
    serverAddress: place,
  };
}
