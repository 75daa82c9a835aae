import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';

/** A message from a user of the shared Postgres, one JSON object per line: a database that the keeper may drop now. */
export interface UserLine {
  readonly drop: string;
}

/** The keeper's first message: an administrator's URL, and the prefix of this user's databases. */
export interface KeeperLine {
  readonly adminUrl: string;
  readonly prefix: string;
}

/** The prefix of all databases that belong to some user. */
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
