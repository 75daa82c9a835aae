import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A file of the page, as it was built. */
export interface Asset {
  readonly type: string;
  readonly etag: string;
  readonly plain: Buffer;
  readonly gzip: Buffer;
  readonly brotli: Buffer;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Where `scripts/console.js` puts the page. */
const builtIndex = new URL('../../../console/index.html', import.meta.url);

/**
 * Reads the built page into memory, by path: what is served is what is in this table, so that no path leads anywhere else.
 *
 * @param folder of the built files; by default that of the program
 */
export function loadAssets(folder: string = fileURLToPath(new URL('.', builtIndex))): ReadonlyMap<string, Asset> {
  const assets = new Map<string, Asset>();
  for (const name of readdirSync(folder)) {
    const type = types[extname(name)];
    if (type === undefined) continue;
    const path = join(folder, name);
    const plain = readFileSync(path);
    const asset: Asset = {
      type,
      etag: readFileSync(`${path}.etag`, 'utf8'),
      plain,
      gzip: readFileSync(`${path}.gz`),
      brotli: readFileSync(`${path}.br`),
    };
    assets.set(name === 'index.html' ? '/' : `/${name}`, asset);
  }
  return assets;
}

/** The smallest encoding that the browser accepts. */
export function encodingFor(
  asset: Asset,
  accepted: string | undefined,
): { readonly body: Buffer; readonly encoding?: string } {
  const offers = new Set((accepted ?? '').split(',').map((part) => part.split(';')[0]?.trim()));
  if (offers.has('br')) return { body: asset.brotli, encoding: 'br' };
  if (offers.has('gzip')) return { body: asset.gzip, encoding: 'gzip' };
  return { body: asset.plain };
}
