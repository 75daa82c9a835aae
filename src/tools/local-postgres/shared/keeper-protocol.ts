import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';

/** What a user of the shared Postgres says, one JSON text per line: a database that the keeper may drop now. */
export interface UserLine {
  readonly drop: string;
}

/** What the keeper says first: an administrator's URL, and how the names of this user's databases begin. */
export interface KeeperLine {
  readonly adminUrl: string;
  readonly prefix: string;
}

/** How the names of all databases begin that belong to some user. */
export const sharedPrefix = 'plinth_test_';

/** Sends a line. */
export function send(socket: Socket, line: UserLine | KeeperLine): void {
  socket.write(`${JSON.stringify(line)}\n`);
}

/** The lines that come in, until the other side ends; a fault of the connection is an end. */
export async function* received<Line>(socket: Socket): AsyncGenerator<Line, void> {
  socket.on('error', () => undefined);
  for await (const line of createInterface({ input: socket })) yield JSON.parse(line) as Line;
}
