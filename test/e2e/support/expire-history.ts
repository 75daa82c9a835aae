import pg from 'pg';

/**
 * Makes every version so far too old for lists and watches, as log upkeep does after the time of `--watch-history`.
 * Returns the oldest version that is left, which is the newest of all.
 */
export async function expireHistory(databaseUrl: string): Promise<bigint> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    // The first round closes the partition in use, the second raises the compact revision over it.
    for (let round = 0; round < 2; round++) await client.query(`select plinth.keep_changes('0', '-1 second', 3)`);
    const { rows } = await client.query<{ compact_revision: string; head: string }>(
      'select * from plinth.log_bounds()',
    );
    const [bounds] = rows;
    if (bounds === undefined || bounds.compact_revision !== bounds.head)
      throw new Error(`not expired: ${JSON.stringify(bounds)}`);
    return BigInt(bounds.compact_revision);
  } finally {
    await client.end();
  }
}
