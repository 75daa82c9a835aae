import { createRequire } from 'node:module';
import { apiRelease } from '../../../base/machinery/api-release.js';
import type { VersionInfo } from './discovery.controller.js';

/** The release of these types and rules, in full. */
const patch = 2;
/** The oldest release whose servers can run beside this one. */
const oldest = { major: '1', minor: '36' } as const;

/** The answer of `/version`. */
export function versionInfo(): VersionInfo {
  const { version } = createRequire(import.meta.url)('../../../../../package.json') as { version: string };
  return {
    ...apiRelease,
    // The server answers as its own release, and never as an older one.
    emulationMajor: apiRelease.major,
    emulationMinor: apiRelease.minor,
    minCompatibilityMajor: oldest.major,
    minCompatibilityMinor: oldest.minor,
    gitVersion: `v${apiRelease.major}.${apiRelease.minor}.${patch}+plinth-${version}`,
    gitCommit: '',
    gitTreeState: '',
    buildDate: '',
    goVersion: `node ${process.version}`,
    compiler: 'tsc',
    platform: `${process.platform}/${process.arch}`,
  };
}
