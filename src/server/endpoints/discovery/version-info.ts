import { createRequire } from 'node:module';
import type { VersionInfo } from './discovery.controller.js';

/** The API release that this server implements; clients compare it with their own for skew. */
const apiRelease = { major: '1', minor: '36' } as const;

/** The answer of `/version`. */
export function versionInfo(): VersionInfo {
  const { version } = createRequire(import.meta.url)('../../../../../package.json') as { version: string };
  return {
    ...apiRelease,
    gitVersion: `v${apiRelease.major}.${apiRelease.minor}.0+plinth-${version}`,
    gitCommit: '',
    gitTreeState: '',
    buildDate: '',
    goVersion: `node ${process.version}`,
    compiler: 'tsc',
    platform: `${process.platform}/${process.arch}`,
  };
}
