import { createRequire } from 'node:module';
import { apiRelease } from '../../../base/machinery/api-release.js';
import type { VersionInfo } from './discovery.controller.js';

/** Patch version of the reference release whose types and rules this server implements. */
const patch = 2;
/** The oldest release that can run side by side with this one. */
const oldest = { major: '1', minor: '36' } as const;

/** The names that clients know of architectures which Node names differently. */
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

/** The response of `/version`. */
export function versionInfo(): VersionInfo {
  const { version } = createRequire(import.meta.url)('../../../../../package.json') as { version: string };
  return {
    ...apiRelease,
    // The server never emulates an older release.
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
    platform: `${process.platform}/${architectures[process.arch] ?? process.arch}`,
  };
}
