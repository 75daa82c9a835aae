import { promises as fs } from 'node:fs';

/**
 * Whether a file has exactly this text. Reads no more than that: a file that a container may write to can have any size.
 * False for a file that can't be read.
 */
export async function hasText(path: string, text: string): Promise<boolean> {
  const wanted = Buffer.from(text);
  try {
    const handle = await fs.open(path);
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(wanted.length + 1), 0, wanted.length + 1, 0);
      return buffer.subarray(0, bytesRead).equals(wanted);
    } finally {
      await handle.close();
    }
  } catch {
    return false;
  }
}
