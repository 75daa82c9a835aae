import { promises as fs } from 'node:fs';
import { dirname } from 'node:path';
import type { ContainerAllocation } from './device-messages.js';

/** Devices of one resource that a container has. */
export interface DeviceEntry {
  readonly podUid: string;
  readonly container: string;
  readonly resource: string;
  readonly ids: readonly string[];
  readonly allocation: ContainerAllocation;
}

/** The assigned devices on the disk, so that another process does not assign them again. */
export class DeviceStore {
  constructor(private readonly path: string) {}

  /** Empty when there is no file. A damaged file counts as missing, since the file is replaced atomically. */
  async read(): Promise<readonly DeviceEntry[]> {
    const text = await fs.readFile(this.path, 'utf8').catch(() => '[]');
    try {
      const found = JSON.parse(text) as unknown;
      return Array.isArray(found) ? found.filter(isEntry) : [];
    } catch {
      return [];
    }
  }

  async write(entries: readonly DeviceEntry[]): Promise<void> {
    await fs.mkdir(dirname(this.path), { recursive: true, mode: 0o750 });
    await fs.writeFile(`${this.path}.new`, JSON.stringify(entries), { mode: 0o600 });
    await fs.rename(`${this.path}.new`, this.path);
  }
}

function isEntry(value: unknown): value is DeviceEntry {
  const entry = value as Partial<DeviceEntry> | null;
  return typeof entry?.podUid === 'string' && Array.isArray(entry.ids) && typeof entry.allocation === 'object';
}
