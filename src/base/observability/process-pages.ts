/** The information that the pages about a process show. */
export interface ProcessInfo {
  /** The name of the program's part: `apiserver` or `controller-manager`. */
  readonly component: string;
  readonly version: string;
  /** The release whose API the program serves. */
  readonly emulatedVersion: string;
  readonly runtime: string;
  /** The program's HTTP paths for operators. */
  readonly paths: readonly string[];
  /** `name=value` of every flag, without secrets. */
  readonly flags: readonly string[];
}

const warning = 'For people only: the form of this page may change at any time.';

/** The text of `/statusz`. */
export function statusPage({ component, version, emulatedVersion, runtime, paths }: ProcessInfo): string {
  const upSeconds = Math.floor(process.uptime());
  const started = new Date(Date.now() - process.uptime() * 1000);
  const [hours, minutes] = [Math.floor(upSeconds / 3600), Math.floor(upSeconds / 60) % 60];
  return [
    `${component} statusz`,
    warning,
    '',
    `Started: ${started.toUTCString()}`,
    `Up: ${hours} hr ${String(minutes).padStart(2, '0')} min ${String(upSeconds % 60).padStart(2, '0')} sec`,
    `Go version: ${runtime}`,
    `Binary version: ${version}`,
    `Emulation version: ${emulatedVersion}`,
    `Process: ${process.pid}`,
    `Paths: ${paths.join(' ')}`,
    '',
  ].join('\n');
}

/** The content of the status page as the fields of an object of kind Statusz. */
export function statusFields({ version, emulatedVersion, runtime, paths }: ProcessInfo): object {
  const started = new Date(Date.now() - process.uptime() * 1000);
  return {
    startTime: started.toISOString().replace(/\.\d+Z$/, 'Z'),
    uptimeSeconds: Math.floor(process.uptime()),
    goVersion: runtime,
    binaryVersion: version,
    emulationVersion: emulatedVersion,
    paths,
  };
}

/** The content of the page of flags as the fields of an object of kind Flagz. */
export function flagsFields({ flags }: ProcessInfo): object {
  const pairs = flags.map((flag) => [flag.slice(0, flag.indexOf('=')), flag.slice(flag.indexOf('=') + 1)]);
  return { flags: Object.fromEntries(pairs) as Record<string, string> };
}

/** The text of `/flagz`. */
export function flagsPage({ component, flags }: ProcessInfo): string {
  return [`${component} flags`, warning, '', ...flags, ''].join('\n');
}

/** The body of `/debug/pprof/goroutine`: what keeps the process busy or alive, by kind. */
export function activitiesPage(): string {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const lines = [...counts].sort(([, a], [, b]) => b - a).map(([kind, count]) => `${count} ${kind}`);
  return `${lines.join('\n')}\n`;
}

/** The body of `/debug/pprof/`. */
export const profilesPage = [
  '<!doctype html>',
  '<title>/debug/pprof/</title>',
  '<h1>Profiles of this process</h1>',
  '<ul>',
  '<li><a href="profile?seconds=30">profile?seconds=30</a>: where the processor spends its time; a .cpuprofile, which the tools of Chrome and editors open</li>',
  '<li><a href="heap?seconds=10">heap?seconds=10</a>: what is allocated meanwhile and still in use at the end; a .heapprofile</li>',
  '<li><a href="allocs?seconds=10">allocs?seconds=10</a>: what is allocated meanwhile, in use or not; a .heapprofile</li>',
  '<li><a href="goroutine">goroutine</a>: open connections, timers and calls, by kind</li>',
  '</ul>',
  '',
].join('\n');

/** The page that lists flags that can be changed while the process runs. */
export const flagNamesPage = ['<!doctype html>', '<title>/debug/flags/</title>', '<p>v</p>', ''].join('\n');
