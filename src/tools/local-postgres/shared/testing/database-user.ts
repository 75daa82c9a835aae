import { acquireDatabase } from '../acquire-database.js';

/* A process that holds a database until its input ends, and then gives it back. Prints its URL. */

const database = await acquireDatabase();
process.stdout.write(`${database.url}\n`);
for await (const _ of process.stdin);
await database.release();
