import pg from 'pg';

/**
 * Makes every version so far too old for lists and watches, as log upkeep does after the time of `--watch-history`.
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
    // The first round closes the partition in use, the second raises the compact revision over it.
    for (let round = 0; round < 2; round++) await client.query(`select plinth.keep_changes('0', '-1 second', 3)`);
    // Servers may have written meanwhile, for example their leases.
    const { oldest } = await bounds();
    if (oldest < head) throw new Error(`not expired: ${oldest} is below ${head}`);
    return oldest;
  } finally {
    await client.end();
  }
}
