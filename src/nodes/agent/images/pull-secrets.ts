import type { Secret } from '../../../objects/apis/core/v1/secret.types.js';
import type { AuthConfig } from '../cri/image-messages.js';
import { parseImageName } from './image-names.js';

interface RegistryEntry {
  readonly username?: string;
  readonly password?: string;
  readonly auth?: string;
  readonly identitytoken?: string;
}

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
  return found.sort((a, b) => b.length - a.length).map(({ auth }) => auth);
}

function registriesOf({ data }: Secret): [string, RegistryEntry][] {
  const config = data?.['.dockerconfigjson'];
  const older = data?.['.dockercfg'];
  try {
    if (config !== undefined) {
      const { auths = {} } = JSON.parse(decoded(config)) as { auths?: Record<string, RegistryEntry> };
      return Object.entries(auths);
    }
    return older === undefined ? [] : Object.entries(JSON.parse(decoded(older)) as Record<string, RegistryEntry>);
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
  const isHost = parts.every((part, i) => {
    const pattern = part.split('*').map((text) => text.replace(/[^\w-:]/g, '\\$&'));
    return new RegExp(`^${pattern.join('[^.]*')}$`).test(wantedParts[i] as string);
  });
  return isHost && path.every((part, i) => part === wantedPath[i]);
}

function authOf(
  { username = '', password = '', auth = '', identitytoken = '' }: RegistryEntry,
  place: string,
): AuthConfig {
  const [user = '', ...rest] = auth === '' ? [] : decoded(auth).split(':');
  return {
    username: username || user,
    password: password || rest.join(':'),
    identityToken: identitytoken,
    serverAddress: place,
  };
}
