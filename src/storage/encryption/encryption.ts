import { readableStoredText } from '../../base/machinery/json/stored-text.js';
import { StorageError } from '../storage-error.js';
import type { StorageKey } from '../storage-key.js';
import type { Provider } from './provider.js';
import { isSealed, type SealedText, type Sealing, unreadable } from './sealing.js';

/** One way to store the texts of a resource: under a key, or, for `identity`, as plain text. */
export type ConfiguredProvider = Provider | 'identity';

/**
 * The resources of one entry of the configuration. The first provider encrypts new texts; all of them are used to
 * decrypt.
 */
export interface EncryptedResources {
  /** `secrets`, `things.example.com`, or for all of a group `*.example.com`, `*.` (the core group) and `*.*`. */
  readonly resources: readonly string[];
  readonly providers: readonly ConfiguredProvider[];
}

/**
 * Kinds that the database itself must read: whether a namespace is being deleted is checked in the transaction of a
 * create.
 */
export const neverEncrypted: ReadonlySet<string> = new Set(['namespaces', 'endeddefinitions.internal']);

const form = /^"enc:([^:"]+:[^:"]*):([A-Za-z0-9+/=]*)"$/;
const noProviders: readonly ConfiguredProvider[] = [];

/** Encryption at rest, by resource. The configuration can be replaced while the process runs. */
export class Encryption implements Sealing {
  private readonly found = new Map<string, readonly ConfiguredProvider[]>();

  constructor(private entries: readonly EncryptedResources[]) {}

  /** Applies this configuration from now on. */
  replace(entries: readonly EncryptedResources[]): void {
    this.entries = entries;
    this.found.clear();
  }

  seal(key: StorageKey, json: string): string {
    const [writer] = this.providersOf(key.resource);
    if (writer === undefined || writer === 'identity') return json;
    checkText(key, json);
    const sealed = writer.seal(Buffer.from(json), contextOf(key));
    return `"enc:${writer.label}:${sealed.toString('base64')}"`;
  }

  open(key: StorageKey, stored: string): string {
    const providers = this.providersOf(key.resource);
    if (!isSealed(stored)) {
      if (providers.length === 0 || providers.includes('identity')) return readableStoredText(stored);
      throw unreadable(key, 'it is not encrypted, and the configuration does not name identity');
    }
    const { label, sealed } = partsOf(key, stored);
    const provider = find(providers, label);
    if (provider === undefined) throw unreadable(key, `no provider ${label} is configured`);
    try {
      return readableStoredText(provider.open(sealed, contextOf(key)).toString());
    } catch (error) {
      throw unreadable(key, `the provider ${label} does not accept it`, error);
    }
  }

  isOutdated(key: StorageKey, stored: string): boolean {
    const [writer = 'identity'] = this.providersOf(key.resource);
    if (writer === 'identity' || !isSealed(stored)) return isSealed(stored) !== (writer !== 'identity');
    const { label, sealed } = partsOf(key, stored);
    return label !== writer.label || writer.isOutdated?.(sealed) === true;
  }

  prepare(texts: readonly SealedText[]): Promise<void> | undefined {
    const waits: Promise<void>[] = [];
    for (const { key, stored } of texts) {
      if (!isSealed(stored)) continue;
      const match = form.exec(stored);
      const provider = find(this.providersOf(key.resource), match?.[1] ?? '');
      if (provider?.prepare === undefined) continue;
      const wait = provider.prepare(Buffer.from(match?.[2] ?? '', 'base64'));
      if (wait !== undefined) waits.push(wait);
    }
    return waits.length === 0 ? undefined : Promise.all(waits).then(() => undefined);
  }

  private providersOf(resource: string): readonly ConfiguredProvider[] {
    let providers = this.found.get(resource);
    if (providers === undefined) {
      const entry = this.entries.find(({ resources }) => resources.some((pattern) => covers(pattern, resource)));
      providers = neverEncrypted.has(resource) ? noProviders : (entry?.providers ?? noProviders);
      this.found.set(resource, providers);
    }
    return providers;
  }
}

/** Whether a name in the configuration covers the resource, or everything that another name covers. */
export function covers(pattern: string, resource: string): boolean {
  if (pattern === '*.*' || pattern === resource) return true;
  if (!pattern.startsWith('*.')) return false;
  const dot = resource.indexOf('.');
  return pattern.slice(2) === (dot < 0 ? '' : resource.slice(dot + 1));
}

function find(providers: readonly ConfiguredProvider[], label: string): Provider | undefined {
  for (const provider of providers) if (provider !== 'identity' && provider.label === label) return provider;
  return undefined;
}

function partsOf(key: StorageKey, stored: string): { label: string; sealed: Buffer } {
  const match = form.exec(stored);
  if (match === null) throw unreadable(key, 'the text has an unknown form');
  return { label: match[1] as string, sealed: Buffer.from(match[2] as string, 'base64') };
}

/** The database validates plain texts itself. */
function checkText(key: StorageKey, json: string): void {
  try {
    JSON.parse(json);
  } catch (cause) {
    throw new StorageError('Invalid', "can't be stored: not JSON", { key, cause });
  }
  if (!json.isWellFormed()) throw new StorageError('Invalid', "can't be stored: not UTF-8", { key });
}

/** Binds a text to its object, so that the text of one Secret can't be moved to another. */
function contextOf({ resource, namespace, name }: StorageKey): Buffer {
  return Buffer.from(`${resource}\u0000${namespace}\u0000${name}`);
}
