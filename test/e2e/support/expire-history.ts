import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

/**
 * Makes all existing versions too old for lists and watches, as log upkeep does after the time of `--watch-history`.
 * Returns the oldest version that is left.
 */
export async function expireHistory(databaseUrl: string): Promise<bigint> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const bounds = async () => {
      const { rows } = await client.query<{ compact_revision: string; head: string }>(
        'select * from plinth.log_bounds()',
      );
      return { oldest: BigInt(rows[0]?.compact_revision ?? 0), head: BigInt(rows[0]?.head ?? 0) };
    };
    const { head } = await bounds();
    for (let round = 1; ; round++) {
      // One round closes the partition in use, the next raises the compact revision past it. A server may be doing the
      // same.
      await client.query(`select plinth.keep_changes('0', '-1 second', 3)`);
      const { oldest } = await bounds();
      // There may be newer versions, since servers write their leases, for example.
      if (oldest >= head) return oldest;
      if (round === 100) throw new Error(`not expired: ${oldest} is below ${head}`);
      await delay(50);
    }
  } finally {
    await client.end();
  }
}
