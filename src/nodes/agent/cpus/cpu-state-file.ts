import { promises as fs } from 'node:fs';
import { compareText } from '../../../base/machinery/compare-text.js';
import { errorText, StartupError } from '../../../base/machinery/startup-error.js';
import { type CpuSet, formatCpuSet, parseCpuSet } from './cpu-set.js';

/** The exclusive processors of containers, by the uid of the pod and the name of the container. */
export type CpuAssignments = ReadonlyMap<string, ReadonlyMap<string, CpuSet>>;

export interface CpuState {
  /** The processors that all other containers share. */
  readonly shared: CpuSet;
  readonly assigned: CpuAssignments;
}

interface Stored {
  readonly policyName?: string;
  readonly defaultCpuSet?: string;
  readonly entries?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** The file in which an agent records the processors of containers, in the format of upstream's agent. */
export class CpuStateFile {
  private written = '';

  constructor(
    private readonly path: string,
    private readonly policy: string,
  ) {}

  /**
   * The state that an earlier process wrote; undefined if there is none.
   *
   * @throws StartupError for a file of another policy, or a damaged one: running containers depend on it, so the agent
   * can't continue
   */
  async read(): Promise<CpuState | undefined> {
    const text = await fs.readFile(this.path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (text === undefined) return undefined;
    let stored: Stored;
    try {
      stored = verified(text);
    } catch (error) {
      throw new StartupError(`${this.path} is damaged (${errorText(error)}): drain the node, and remove the file`);
    }
    if (stored.policyName !== this.policy) {
      const other = `it was written under --cpu-manager-policy=${stored.policyName}`;
      throw new StartupError(`${this.path} can't be used: ${other}; drain the node, and remove the file`);
    }
    const entries = Object.entries(stored.entries ?? {}).map(
      ([uid, containers]) =>
        [uid, new Map(Object.entries(containers).map(([name, cpus]) => [name, parseCpuSet(cpus)]))] as const,
    );
    return { shared: parseCpuSet(stored.defaultCpuSet ?? ''), assigned: new Map(entries) };
  }

  /** Replaces the file atomically if the state has changed. */
  async write({ shared, assigned }: CpuState): Promise<void> {
    const entries = [...assigned].map(
      ([uid, containers]) =>
        [uid, Object.fromEntries([...containers].map(([name, cpus]) => [name, formatCpuSet(cpus)]))] as const,
    );
    const text = encode({
      policyName: this.policy,
      defaultCpuSet: formatCpuSet(shared),
      ...(entries.length === 0 ? {} : { entries: Object.fromEntries(entries) }),
    });
    if (text === this.written) return;
    await fs.writeFile(`${this.path}.new`, text, { mode: 0o600 });
    await fs.rename(`${this.path}.new`, this.path);
    this.written = text;
  }
}

/** The state in two formats, for releases before and since 1.37, each with a checksum. */
function encode(stored: Stored): string {
  const entries = sorted(stored.entries ?? {});
  const own = { ...stored, ...(stored.entries === undefined ? {} : { entries }) };
  const data = JSON.stringify(own);
  return JSON.stringify({ ...own, checksum: checksumOf(own), data, dataChecksum: dataChecksum(data) });
}

function sorted(entries: NonNullable<Stored['entries']>): NonNullable<Stored['entries']> {
  const inOrder = <T>(object: Readonly<Record<string, T>>) =>
    Object.entries(object).sort(([a], [b]) => compareText(a, b));
  return Object.fromEntries(
    inOrder(entries).map(([uid, containers]) => [uid, Object.fromEntries(inOrder(containers))]),
  );
}

/** Parses the content of a file. @throws Error for other content, or when the content was truncated or changed */
function verified(text: string): Stored {
  const whole = JSON.parse(text) as Stored & {
    readonly checksum?: number;
    readonly data?: string;
    readonly dataChecksum?: number;
  };
  if (whole.data !== undefined) {
    if (dataChecksum(whole.data) !== whole.dataChecksum) throw new Error('its checksum is wrong');
    return JSON.parse(whole.data) as Stored;
  }
  if (whole.checksum && checksumOf(whole) !== whole.checksum) throw new Error('its checksum is wrong');
  return whole;
}

/** The checksum covers the text that a debugger of the other agent's language would print. */
function checksumOf({ policyName = '', defaultCpuSet = '', entries = {} }: Stored): number {
  const pods = Object.entries(sorted(entries)).map(([uid, containers]) => {
    const own = Object.entries(containers).map(([name, cpus]) => `${name}:${cpus}`);
    return `${uid}:map[${own.join(' ')}]`;
  });
  return fnv1a(
    `(*state.CPUManagerCheckpoint){PolicyName:(string)${policyName} DefaultCPUSet:(string)${defaultCpuSet} ` +
      `Entries:(map[string]map[string]string)map[${pods.join(' ')}] Checksum:(checksum.Checksum)0}`,
  );
}

function dataChecksum(data: string): number {
  return fnv1a(`(string)${data}`);
}

/** The hash FNV-1a in 32 bits. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}
