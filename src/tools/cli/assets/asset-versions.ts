import { versionInfo } from '../../../server/endpoints/discovery/version-info.js';
import { readVersion } from '../version.js';
import type { VersionTexts } from '../version-flag.js';

/**
 * The etcd release whose flags are understood. Test suites and scripts compare it with the version that they require.
 */
const storeRelease = '3.6.0';

/** The version that the replacement for etcd reports, by its flag and by HTTP. */
export async function storeVersion(): Promise<string> {
  return `${storeRelease}+plinth-${await readVersion()}`;
}

/** What `etcd --version` prints: names and order are those that scripts look for. */
export const storeVersions: VersionTexts = {
  async true() {
    const { goVersion } = versionInfo();
    return [
      `etcd Version: ${await storeVersion()}`,
      'Git SHA: none, the store is PostgreSQL',
      `Go Version: ${goVersion}`,
      `Go OS/Arch: ${platform()}`,
    ].join('\n');
  },
};

/** What `kube-apiserver --version` prints, and `--version=raw`. */
export const serverVersions: VersionTexts = {
  true: () => `Kubernetes ${versionInfo().gitVersion}`,
  raw() {
    const { major, minor, gitVersion, gitCommit, gitTreeState, buildDate, goVersion, compiler } = versionInfo();
    const fields = {
      Major: major,
      Minor: minor,
      GitVersion: gitVersion,
      GitCommit: gitCommit,
      GitTreeState: gitTreeState,
      BuildDate: buildDate,
      GoVersion: goVersion,
      Compiler: compiler,
      Platform: platform(),
    };
    const texts = Object.entries(fields).map(([name, value]) => `${name}:${JSON.stringify(value)}`);
    return `version.Info{${texts.join(', ')}}`;
  },
};

/** The platform as Go names it, as in the names of downloads. */
function platform(): string {
  const architecture = { x64: 'amd64', ia32: '386' }[process.arch as string] ?? process.arch;
  return `${process.platform}/${architecture}`;
}
