import { dig, entriesAt, listAt, textAt } from './dig.js';

/** A revision of a Helm release, from the labels of the Secret that holds it. */
export interface HelmRevision {
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
  readonly status: string;
  /** When it became what it is, in RFC 3339. */
  readonly changed: string;
  /** The Secret that holds it. */
  readonly secret: string;
}

/** What a Secret of Helm holds. */
export interface HelmRelease {
  readonly chart: string;
  readonly chartVersion: string;
  readonly appVersion: string;
  readonly description: string;
  readonly status: string;
  readonly deployed: string;
  readonly notes: string;
  readonly manifest: string;
  /** What the user set, and what the chart sets by itself. */
  readonly values: unknown;
  readonly defaults: unknown;
}

export const helmSecretType = 'helm.sh/release.v1';

/** Anything larger than this, unpacked, is not a release: the page would freeze. A Secret has at most 1 MiB. */
export const mostUnpacked = 32 * 1024 * 1024;

/** No chart nests its values nearly as deeply. */
const mostDepth = 200;

/** The revisions that the metadata of Secrets name, the newest of each release first. */
export function revisionsIn(secrets: readonly unknown[]): readonly HelmRevision[] {
  return secrets
    .filter((secret) => textAt(secret, 'metadata', 'labels', 'owner') === 'helm')
    .map((secret) => {
      const label = (name: string) => textAt(secret, 'metadata', 'labels', name);
      const changed = Number(label('modifiedAt') || label('createdAt'));
      const created = textAt(secret, 'metadata', 'creationTimestamp');
      return {
        namespace: textAt(secret, 'metadata', 'namespace'),
        name: label('name'),
        revision: Number(label('version')),
        status: label('status'),
        changed:
          Number.isFinite(changed) && changed > 0 && changed < 1e11 ? new Date(changed * 1000).toISOString() : created,
        secret: textAt(secret, 'metadata', 'name'),
      };
    })
    .filter(({ name, revision }) => name !== '' && Number.isSafeInteger(revision))
    .sort((a, b) => compare(a.namespace, b.namespace) || compare(a.name, b.name) || b.revision - a.revision);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The newest revision of each release; sorted as the revisions are. */
export function newestOf(revisions: readonly HelmRevision[]): readonly HelmRevision[] {
  return revisions.filter((each, index) => {
    const before = revisions[index - 1];
    return before === undefined || before.namespace !== each.namespace || before.name !== each.name;
  });
}

/**
 * Reads the release that a Secret holds. Nothing of it is executed.
 *
 * @param data the value `release` of the Secret, as the API sends it
 * @throws Error for anything other than a release
 */
export async function readRelease(data: string): Promise<HelmRelease> {
  // Helm packs, encodes, and the API encodes once more.
  const packed = bytesOf(atob(data));
  const text = packed[0] === 0x1f && packed[1] === 0x8b ? await unpacked(packed) : new TextDecoder().decode(packed);
  const release: unknown = JSON.parse(text);
  const metadata = dig(release, 'chart', 'metadata');
  if (textAt(metadata, 'name') === '') throw new Error('the Secret holds no release of Helm');
  const values = dig(release, 'config') ?? {};
  const defaults = dig(release, 'chart', 'values') ?? {};
  checkDepth([values, defaults]);
  return {
    chart: textAt(metadata, 'name'),
    chartVersion: textAt(metadata, 'version'),
    appVersion: textAt(metadata, 'appVersion'),
    description: textAt(release, 'info', 'description'),
    status: textAt(release, 'info', 'status'),
    deployed: textAt(release, 'info', 'last_deployed'),
    notes: textAt(release, 'info', 'notes'),
    manifest: textAt(release, 'manifest'),
    values,
    defaults,
  };
}

/** @throws Error for values whose YAML would exhaust the stack */
function checkDepth(value: unknown): void {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > mostDepth) throw new Error(`the values of the release are nested more than ${mostDepth} levels deep`);
    const next: unknown[] = [];
    for (const each of level) {
      if (typeof each === 'object' && each !== null) for (const part of Object.values(each)) next.push(part);
    }
    level = next;
  }
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

async function unpacked(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.length;
    if (size > mostUnpacked) {
      await reader.cancel();
      throw new Error(`the release has more than ${mostUnpacked / 1024 / 1024} MiB`);
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** The objects of a manifest: kind and name of each document, by its own lines. */
export function objectsIn(manifest: string): readonly {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
}[] {
  return manifest.split(/^---.*$/m).flatMap((document) => {
    const field = (pattern: RegExp) => (pattern.exec(document)?.[1] ?? '').trim().replace(/^(["'])(.*)\1$/, '$2');
    const kind = field(/^kind:[ \t]*(.+)$/m);
    const metadata = /^metadata:[ \t]*\n((?:[ \t]+.*\n?|\n)*)/m.exec(document)?.[1] ?? '';
    const inMetadata = (name: string) =>
      (new RegExp(`^  ${name}:[ \\t]*(.+)$`, 'm').exec(metadata)?.[1] ?? '').trim().replace(/^(["'])(.*)\1$/, '$2');
    const name = inMetadata('name');
    if (kind === '' || name === '') return [];
    return [{ apiVersion: field(/^apiVersion:[ \t]*(.+)$/m), kind, name, namespace: inMetadata('namespace') }];
  });
}

/** Whether anything is set. */
export function isEmpty(value: unknown): boolean {
  return entriesAt(value).length === 0 && listAt(value).length === 0;
}
