import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { StartupError } from '../../../base/machinery/startup-error.js';
import { keepFile } from '../own-files.js';
import { programFile } from '../program-file.js';
import type { MadeHere } from './made-here.js';
import { checkUnitsSee, pathsIn } from './unit-sight.js';

/** A unit that runs one command of this program. */
export interface Unit {
  /** Without `.service`. */
  readonly name: string;
  readonly description: string;
  /** The command with its flags; none of them is a secret. */
  readonly command: readonly string[];
  /** A file of variables for the process, readable by root only. One that is not there counts as empty. */
  readonly environmentFile: string;
  readonly after?: readonly string[];
  /** Further lines of the section `Service`. */
  readonly service?: readonly string[];
}

/** The folder for administrators' units. */
export const unitFolder = '/etc/systemd/system';

/** How many lines of a unit's log explain a failure. */
const shownLines = 5;

/** Whether systemd runs this machine. It makes this folder when it starts. */
export function isSystemdRunning(folder = '/run/systemd/system'): boolean {
  return existsSync(folder);
}

/** The line of a unit whose root has no rights but those of the owner of its files. */
export const noCapabilities = 'CapabilityBoundingSet=';

/** The files of this program, and others. */
export function programAnd(paths: readonly string[]): string[] {
  return [process.execPath, programFile, ...paths];
}

/** A process that serves the API or runs loops needs no right of root but to read its own files. */
export const withoutRights: readonly string[] = [
  noCapabilities,
  'NoNewPrivileges=yes',
  'ProtectSystem=strict',
  'ProtectHome=read-only',
  'PrivateTmp=yes',
  'PrivateDevices=yes',
  'ProtectKernelModules=yes',
  'ProtectKernelTunables=yes',
  'ProtectControlGroups=yes',
  'RestrictNamespaces=yes',
  'RestrictSUIDSGID=yes',
  'LockPersonality=yes',
];

/** The service manager of the machine, and the units that were given to it here. */
export class Systemd {
  constructor(
    private readonly made: MadeHere,
    private readonly logger: { warn(message: string, fields?: object): void },
    private readonly folder = unitFolder,
  ) {}

  /**
   * Writes units and sees that they run, now and after every boot. A unit that somebody changed stays as it is; one that runs
   * and is unchanged is not restarted.
   *
   * @throws StartupError when a unit could not read a file that its command names
   */
  async run(units: readonly Unit[]): Promise<void> {
    for (const { command, service = [] } of units) {
      const isConfined = service.includes('PrivateTmp=yes');
      if (isConfined) await checkUnitsSee(programAnd(pathsIn(command)), !service.includes(noCapabilities));
    }
    const changed: string[] = [];
    for (const unit of units) {
      const path = this.path(unit.name);
      const before = await this.made.files.read(path);
      await this.made.note('units', `${unit.name}.service`);
      await keepFile(this.made.files, path, unitText(unit), this.logger, 0o644);
      if (before !== undefined && before !== (await this.made.files.read(path))) changed.push(`${unit.name}.service`);
    }
    await systemctl('daemon-reload');
    for (const { name } of units) await systemctl('enable', '--now', `${name}.service`);
    if (changed.length > 0) await systemctl('restart', ...changed);
  }

  /** Stops units, also after the next boot. The caller, which has the record of their files, removes these. */
  async end(units: readonly string[]): Promise<void> {
    for (const unit of units) {
      if (existsSync(join(this.folder, unit))) await systemctl('disable', '--now', unit);
    }
  }

  /** The last lines that a unit has logged; empty where the machine keeps no log. */
  private async lastLines(unit: string, since: number): Promise<string[]> {
    const flags = [
      '--quiet',
      '--no-pager',
      '--output=cat',
      `--lines=${shownLines}`,
      `--since=@${Math.floor(since / 1000)}`,
    ];
    const log = promisify(execFile)('journalctl', [...flags, `--identifier=${unit}`]);
    const { stdout } = await log.catch(() => ({ stdout: '' }));
    return stdout.split('\n').filter((line) => line !== '');
  }

  /** Where a unit's log is, and how it ends since a time in milliseconds, to be added to an error. All in one line, as errors are. */
  async explanation(unit: string, since: number): Promise<string> {
    // A unit that is started again and again says the same each time.
    const lines = new Set(await this.lastLines(unit, since));
    const log = lines.size === 0 ? '' : `, which ends with: ${[...lines].join(' | ')}`;
    return `: see journalctl -u ${unit}${log}`;
  }

  /** Lets the manager forget units whose files are gone. */
  async forget(): Promise<void> {
    await systemctl('daemon-reload');
  }

  private path(name: string): string {
    return join(this.folder, `${name}.service`);
  }
}

async function systemctl(...args: readonly string[]): Promise<void> {
  try {
    await promisify(execFile)('systemctl', [...args]);
  } catch (error) {
    const { stderr = '', message } = error as { readonly stderr?: string; readonly message: string };
    const line = stderr.trim().split('\n').at(-1) || message;
    throw new StartupError(`systemctl ${args.join(' ')}: ${line}`, { cause: error });
  }
}

/** The text of a unit file. */
export function unitText({ name, description, command, environmentFile, after = [], service = [] }: Unit): string {
  const start = [process.execPath, programFile, ...command].map(quoted).join(' ');
  return [
    `# Made by plinth: plinth reset removes it. Settings: ${environmentFile}`,
    '[Unit]',
    `Description=${description}`,
    `Documentation=man:plinth-${command[0]}(1)`,
    'Wants=network-online.target',
    `After=${['network-online.target', ...after].join(' ')}`,
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    `EnvironmentFile=-${environmentFile}`,
    `ExecStart=${start}`,
    'Restart=always',
    'RestartSec=2s',
    'TimeoutStopSec=90s',
    'KillMode=mixed',
    'LimitNOFILE=65536',
    'UMask=0077',
    `SyslogIdentifier=${name}`,
    ...service,
    '',
    '[Install]',
    'WantedBy=multi-user.target',
    '',
  ].join('\n');
}

/** A word of a command line as units spell it: specifiers and variables mean nothing. */
function quoted(word: string): string {
  const plain = word.replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /^[\w./:@=,%$+-]+$/.test(plain) ? plain : `"${plain.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
