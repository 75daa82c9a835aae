import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Asset } from './assets.js';

/** Places in the page that name its files from the root of the console. */
const fromRoot = /\b(href|src)="\//g;

/**
 * The path of a request within the console: without the path under which a proxy serves it, if the proxy has not taken
 * that away already.
 *
 * @param url path and query as they came
 * @param basePath without a slash at its end; empty: none
 */
export function withoutBase(url: string, basePath: string): string {
  if (basePath === '' || !url.startsWith(basePath)) return url;
  const rest = url.slice(basePath.length);
  if (rest === '' || rest.startsWith('?')) return `/${rest}`;
  return rest.startsWith('/') ? rest : url;
}

/** The page with the places of its files below the base path. The scripts learn the path from their own place. */
export function pageBelow(page: Asset, basePath: string): Asset {
  if (basePath === '') return page;
  const plain = Buffer.from(page.plain.toString('utf8').replaceAll(fromRoot, `$1="${basePath}/`));
  const etag = `${page.etag.slice(0, -1)}${basePath}"`;
  return { ...page, etag, plain, gzip: gzipSync(plain), brotli: brotliCompressSync(plain) };
}
