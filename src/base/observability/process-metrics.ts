import { Gauge, type Registry } from 'prom-client';

/** The information about the program that `/version` shows. */
export interface BuildInfo {
  readonly major: string;
  readonly minor: string;
  readonly emulationMajor: string;
  readonly emulationMinor: string;
  readonly minCompatibilityMajor: string;
  readonly minCompatibilityMinor: string;
  readonly gitVersion: string;
  readonly gitCommit: string;
  readonly gitTreeState: string;
  readonly buildDate: string;
  readonly goVersion: string;
  readonly compiler: string;
  readonly platform: string;
}

/** Registers metrics of the program itself, in addition to those of the library. */
export function registerProcessMetrics(registry: Registry, build: BuildInfo): void {
  const registers = [registry];
  new Gauge({
    name: 'kubernetes_build_info',
    help: 'Always 1; its labels hold the version of the program.',
    labelNames: [
      'major',
      'minor',
      'git_version',
      'git_commit',
      'git_tree_state',
      'build_date',
      'go_version',
      'compiler',
      'platform',
    ],
    registers,
  }).set(
    {
      major: build.major,
      minor: build.minor,
      git_version: build.gitVersion,
      git_commit: build.gitCommit,
      git_tree_state: build.gitTreeState,
      build_date: build.buildDate,
      go_version: build.goVersion,
      compiler: build.compiler,
      platform: build.platform,
    },
    1,
  );
  new Gauge({
    name: 'version_info',
    help: 'Always 1; its labels name the release that the program answers as, and the oldest one that it gets on with.',
    labelNames: ['binary', 'component', 'emulation', 'min_compat'],
    registers,
  }).set(
    {
      binary: build.gitVersion.replaceAll(/^v|\+.*$/g, ''),
      component: 'kube',
      emulation: `${build.emulationMajor}.${build.emulationMinor}`,
      min_compat: `${build.minCompatibilityMajor}.${build.minCompatibilityMinor}`,
    },
    1,
  );
  new Gauge({
    name: 'go_goroutines',
    help: 'What the process has under way (connections, timers, calls), under the name that dashboards ask for.',
    registers,
    collect() {
      this.set(process.getActiveResourcesInfo().length);
    },
  });
}
